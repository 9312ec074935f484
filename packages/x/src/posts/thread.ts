import {
  isRetryable,
  raise,
  toolError,
  type StepReadBack,
  type ToolContext,
  type ToolOperation,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { isUnknown, readingOf } from '../problems/reading-of.js';
import type { Scope } from '../scope.js';
import { deletedBy } from './claims.js';
import { createKnownPost } from './create.js';
import type { Draft } from './draft.js';
import { fitting } from './fitting.js';
import { readBackOf, type Posted } from './read-back.js';

/** Less time than this is not enough for another post: better to stop before it than in it. */
const LEAST_MS = 1_000;

/**
 * Posts the parts of a thread, each in reply to the one before. With a journal every part is a step:
 * one that is done is not sent again, and a part whose end nobody knows is looked for first.
 */
export async function postThread(
  client: Client,
  drafts: readonly Draft[],
  scope: Scope,
  context: Pick<ToolContext, 'operation'>,
): Promise<readonly Posted[] | ReturnType<typeof partialFailure | typeof unchecked> | PartGone> {
  const { operation } = context;
  const posted: Posted[] = [];
  /** How many of them stand there from an earlier life. */
  let earlier = 0;
  let gone: PartGone | undefined;
  const checkEarlier = async (): Promise<void> => {
    if (!operation || earlier === 0) return;
    const deleted = await deletedBy(operation.others).catch(cannotSay);
    gone = partGone(posted, deleted, drafts.length);
    if (gone) raise(gone);
    earlier = 0;
  };
  for (const [index, given] of drafts.entries()) {
    const draft = { ...given, replyTo: posted.at(-1)?.id };
    try {
      let isSent = false;
      const send = async (): Promise<Posted> => {
        isSent = true;
        await checkEarlier();
        if (index > 0 && scope.deadline - client.clock.now() < LEAST_MS) throw outOfTime();
        return createKnownPost(client, draft, scope, context, index > 0);
      };
      const reconcileFor = ({ account }: ToolOperation): StepReadBack<Posted> => ({
        // The journal takes one look for proof here, and X may show a part late.
        authoritative: false,
        readBack: (open) => readBackOf(client, draft, { ...open, account }, scope),
      });
      const part: Part = operation
        ? await operation.step(`post ${index + 1}`, send, reconcileFor(operation))
        : await send();
      // Without its id the next part would be a tweet of its own, for everybody to see.
      if (!part.id) throw new TypeError(`part ${index + 1} of a thread has no id`);
      posted.push({ ...part, text: part.text ?? draft.text });
      if (!isSent) earlier += 1;
      if (posted.length === drafts.length) await checkEarlier();
    } catch (cause) {
      if (gone) return gone;
      // Nothing stands there yet, so that the cause itself is the answer.
      if (posted.length === 0) throw cause;
      if (posted.length === drafts.length) return unchecked(posted);
      return partialFailure({ posted, index, all: drafts.length, cause, resumes: !!operation });
    }
  }
  return fitting(posted);
}

/** One that a person settled may have nothing but its id. */
type Part = Omit<Posted, 'text'> & Partial<Pick<Posted, 'text'>>;

type PartGone = NonNullable<ReturnType<typeof partGone>>;

/** Somebody deleted a part with our own tool: what would follow it has lost its place. */
function partGone(posted: readonly Posted[], deleted: ReadonlySet<string>, all: number) {
  const index = posted.findIndex(({ id }) => deleted.has(id));
  const part = posted[index];
  if (!part) return undefined;
  const left = posted.map(({ id }, at) => ({ index: at, id })).filter(({ id }) => !deleted.has(id));
  const advice =
    index === 0
      ? 'Post it anew, with another key.'
      : 'Delete its first tweet to post it anew, or post the rest as replies.';
  const message = `Number ${index + 1} of the thread, ${part.id}, was deleted, so it does not go on. ${advice}`;
  return toolError('not_found', message, {
    details: { resource: 'tweet', id: part.id },
    data: {
      posted: left,
      failed: { index, code: 'not_found', message },
      unposted: all - left.length,
    },
  });
}

const CANNOT_SAY = 'the journal cannot say whether a part was deleted since.';

/** Below a part that is gone a reply would stand alone, so that not knowing is no reason to go on. */
function cannotSay(): never {
  const message = `Nothing was sent: ${CANNOT_SAY}`;
  return raise(toolError('db_error', message, { outcome: 'not_executed' }));
}

function unchecked(posted: readonly Posted[]) {
  const message = `All ${posted.length} tweets were posted, but ${CANNOT_SAY} Call again later.`;
  const there = posted.map(({ id }, index) => ({ index, id }));
  return toolError('db_error', message, { data: { posted: there, unposted: 0 } });
}

function outOfTime(): FaultError {
  return new FaultError({ kind: 'timeout', sent: 'no', clock: 'deadline' });
}

interface Stop {
  readonly posted: readonly Posted[];
  readonly index: number;
  readonly all: number;
  readonly cause: unknown;
  readonly resumes: boolean;
}

function partialFailure({ posted, index, all, cause, resumes }: Stop) {
  const { code, message, retryAfterMs } = readingOf(cause)?.input ?? {
    code: 'internal_error' as const,
    message: 'It failed in a way that nobody foresaw.',
    retryAfterMs: undefined,
  };
  const details = { posted: posted.length, failed_at_index: index, cause_code: code };
  const there = posted.map(({ id }, at) => ({ index: at, id }));
  const begin = `${posted.length} of ${all} tweets are posted;`;
  const last = posted.at(-1)?.id;
  // The journal's word for a record of a part that nobody can go on from.
  if (code === 'serialization_error') {
    const text = `${begin} the record of number ${index + 1} has no id: ${message}`;
    const unknown = { index, code, message };
    const unposted = all - posted.length - 1;
    return toolError('thread_partial_failure', text, {
      details,
      data: { posted: there, unknown, unposted },
    });
  }
  if (isUnknown(cause)) {
    const advice = resumes
      ? 'The same call looks for it, and goes on behind it once it is found.'
      : `Look for it among the replies to ${last} before you post the rest.`;
    const about = `Nobody knows whether number ${index + 1} is. Do not post it again.`;
    return toolError('thread_partial_failure', `${begin} ${about} ${advice}`, {
      retryAfterMs,
      outcome: 'unknown',
      details,
      data: {
        posted: there,
        unknown: { index, code, message: `${about} ${advice}` },
        unposted: all - posted.length - 1,
      },
    });
  }
  const failed = {
    index,
    code,
    message,
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
  };
  const resumed = isRetryable(code)
    ? 'The same call goes on there.'
    : 'The same call fails alike as long as that is so, and goes on there once it is not.';
  const advice = resumes ? resumed : `Post the rest in reply to ${last}, and not from the top.`;
  const text = `${begin} number ${index + 1} is not: ${message} ${advice}`;
  return toolError('thread_partial_failure', text, {
    retryAfterMs,
    details,
    data: { posted: there, failed, unposted: all - posted.length },
  });
}
