import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FencingToken, JournalStore } from '../store.js';
import {
  LEASE,
  owner,
  release,
  request,
  success,
  type Bench,
  type OpenBench,
} from './harness.fixture.js';
import { Model, type ModelClaim } from './model.fixture.js';

const OWNERS = ['alice', 'bob'] as const;
const STATES = ['succeeded', 'rejected', 'released', 'unknown'] as const;

const who = fc.constantFrom(...OWNERS);
/** A fencing token of an earlier operation: current, stale, or of another owner. */
const fencingToken = fc.record({ at: fc.nat(5), stale: fc.boolean(), owner: fc.option(who) });

const command = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      owner: who,
      by: fc.constantFrom('key' as const, 'content' as const, 'template' as const),
      value: fc.constantFrom('a', 'b'),
      /** The explicit key beside a template. */
      key: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
      idempotent: fc.boolean(),
      duplicate: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), fencingToken }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      fencingToken,
      state: fc.constantFrom(...STATES),
      holdMs: fc.constantFrom(0, 1000, 60_000),
      keyHoldMs: fc.constantFrom(0, 1000, 60_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reconcile' as const),
      at: fc.nat(5),
      executed: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 999, 1000, LEASE - 1, LEASE, 60_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('renew' as const, 'register' as const, 'evict' as const),
      owner: who,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
);

type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

/** Random histories; each step must have the result of the model. */
export function historyContract(kind: string, open: OpenBench, numRuns: number): void {
  test(`any history of the ${kind} store matches the model`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
        const bench = await open();
        try {
          await play(bench, commands);
        } finally {
          await bench.close();
        }
      }),
      { numRuns },
    );
  });
}

async function play({ store, advance }: Bench, commands: readonly Command[]): Promise<void> {
  const model = new Model();
  model.now = await store.now();
  const claims: FencingToken[] = [];
  const gripOf = ({
    at,
    stale,
    owner: by,
  }: {
    at: number;
    stale: boolean;
    owner: string | null;
  }) => {
    const claim = claims[at % Math.max(1, claims.length)] ?? {
      id: 'op_none',
      owner: 'alice',
      fence: 1,
    };
    return { ...claim, fence: claim.fence + (stale ? 1 : 0), owner: by ?? claim.owner };
  };
  for (const name of OWNERS) {
    await store.registerOwner(owner(name), LEASE);
    model.registerOwner(name);
  }

  for (const step of commands) {
    switch (step.kind) {
      case 'claim': {
        const id = `op_${claims.length}`;
        const expected = model.claim(modelOf(step, id));
        const actual = await claim(store, step, id);
        expect(actual).toEqual(expected);
        if (actual !== 'lapsed' && actual.mine) claims.push({ id, owner: step.owner, fence: 1 });
        break;
      }
      case 'send': {
        const { id, owner: by, fence } = gripOf(step.fencingToken);
        const { kind } = await store.send({ id, owner: by, fence }, { limits: [] });
        expect(kind).toBe(model.send(id, by, fence));
        break;
      }
      case 'settle': {
        const { id, owner: by, fence } = gripOf(step.fencingToken);
        const { state, holdMs, keyHoldMs } = step;
        const end = success({ state, holdMs, keyHoldMs });
        const settled = await store.settle({ id, owner: by, fence }, end);
        expect(settled).toBe(model.settle(id, by, fence, state, [holdMs, keyHoldMs]));
        break;
      }
      case 'reconcile': {
        const { id } = gripOf({ at: step.at, stale: false, owner: null });
        const outcome = step.executed ? 'executed' : 'not_executed';
        const { answer, code } = release();
        const verdict = { outcome, answer, code, holdMs: 1000, by: 'ann' } as const;
        expect(await store.reconcile(id, verdict)).toBe(
          model.reconcile(id, step.executed, [1000, 1000]),
        );
        break;
      }
      case 'advance':
        await advance(step.ms);
        model.now += step.ms;
        break;
      case 'renew':
        expect(await store.renew(step.owner, LEASE)).toBe(model.renew(step.owner));
        break;
      case 'register':
        await store.registerOwner(owner(step.owner), LEASE);
        model.registerOwner(step.owner);
        break;
      case 'evict':
        await store.evictOwner(step.owner);
        model.evictOwner(step.owner);
        break;
      case 'sweep':
        expect(await store.sweep()).toHaveLength(model.sweep());
        break;
    }
    await compare(store, model);
  }
}

type Claim = Extract<Command, { kind: 'claim' }>;

const keyBeside = ({ by, key }: Claim): string | undefined => (by === 'template' ? key : undefined);

function modelOf(step: Claim, id: string): ModelClaim {
  const { owner: by, idempotent, duplicate } = step;
  const key = keyBeside(step);
  return {
    id,
    owner: by,
    act: `${step.by}:${step.value}`,
    byKey: step.by === 'key',
    key: key === undefined ? undefined : `key:${key}`,
    idempotent,
    duplicate,
  };
}

async function claim(
  store: JournalStore,
  step: Claim,
  id: string,
): Promise<ReturnType<Model['claim']>> {
  const { owner: by, idempotent, duplicate } = step;
  const key = keyBeside(step);
  try {
    const { kind, operation } = await store.claim(
      request({
        id,
        owner: by,
        dedupKey: { by: step.by, value: step.value },
        ...(key !== undefined && { key }),
        effect: idempotent ? 'idempotent' : 'once',
        allowDuplicate: duplicate,
      }),
    );
    return { mine: kind === 'mine', id: operation.id };
  } catch (error) {
    if ((error as { reason?: string }).reason === 'lapsed') return 'lapsed';
    throw error;
  }
}

async function compare(store: JournalStore, model: Model): Promise<void> {
  const actual = (await store.list({ limit: 100 })).toReversed();
  expect(
    actual.map(({ id, state, owner: by, fence, holdsDedupKey }) => ({
      id,
      state,
      by,
      fence,
      holdsDedupKey,
    })),
  ).toEqual(
    model.operations.map((one) => ({
      id: one.id,
      state: one.state,
      by: one.owner,
      fence: one.fence,
      holdsDedupKey: model.holds(one),
    })),
  );
}
