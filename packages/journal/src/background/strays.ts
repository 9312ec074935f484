import type { FlowParts } from '../flow/parts.js';
import type { Operation } from '../operation.js';
import type { JournalStore, Settlement } from '../store/store.js';
import { writeAnswer } from '../answer/stored.js';
import { journalFailed } from '../answer/refusals.js';

/**
 * Operations that the store gave to us and that we never got: its answer was lost on the way. Nobody
 * works on them, and our lease keeps them from everybody else.
 */
export interface Strays {
  readonly pass: () => Promise<void>;
}

/** `isSuspected` says once whether the store failed just when it may have given us something. */
export function strays({ kit, settler }: FlowParts, isSuspected: () => boolean): Strays {
  let rounds = 0;
  let seen: ReadonlySet<string> = new Set();

  return {
    pass: async () => {
      if (isSuspected()) rounds = 2;
      if (rounds === 0) return;
      const owner = await kit.tenure.current();
      const claimed = await ownClaims(kit.store, owner);
      const alone = claimed.filter(
        (each) => each.damaged === undefined && !kit.running.has(each.id),
      );
      // Seen twice: one that has just been given to us is not known here yet.
      const lost = alone.filter(({ id }) => seen.has(id));
      for (const each of lost) {
        await settler.settle({ id: each.id, owner, fence: each.fence }, givenBack(each));
      }
      seen = new Set(alone.map(({ id }) => id));
      rounds = alone.length > lost.length ? 1 : rounds - 1;
    },
  };
}

const PAGE = 500;

/** Only ours, the oldest first: however many claims others have, none of ours is passed over. */
async function ownClaims(
  store: Pick<JournalStore, 'list'>,
  owner: string,
): Promise<readonly Operation[]> {
  const found: Operation[] = [];
  for (;;) {
    const before = found.at(-1)?.id;
    const page = await store.list({
      states: ['claimed'],
      owner,
      order: 'oldest',
      limit: PAGE,
      damaged: 'shown',
      ...(before !== undefined && { before }),
    });
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

function givenBack({ id, steps, approval }: Operation): Settlement {
  const isOpen = steps.some(({ state }) => state === 'sending');
  const waits = approval?.decision === 'approved' ? 'awaiting_approval' : 'released';
  const state = isOpen ? 'unknown' : steps.length > 0 ? 'claimed' : waits;
  const answer = writeAnswer(journalFailed({ id }));
  return {
    state,
    outcome: isOpen ? 'unknown' : 'not_executed',
    answer,
    code: 'db_error',
    holdMs: 0,
  };
}
