import {
  isRetryable,
  raise,
  toolError,
  type StepReadBack,
  type ToolContext,
  type ToolOperation,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { CallContext } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { hasUnknownOutcome, toToolError } from '../faults.js';
import { fitToBudget } from '../text/strings.js';
import { claimsOf, deletedBy } from './claims.js';
import { createPost } from './create.js';
import type { Draft } from './draft.js';
import { readBackOf, type Posted } from './read-back.js';

/** With less time than this, the thread stops before the next part rather than during it. */
const MIN_PART_MS = 1_000;

/**
 * Posts the parts of a thread, each in reply to the previous one. In an operation each part is a step:
 * a finished part is not sent again, and a part with an unknown outcome is read back first.
 */
export async function postThread(
  client: Client,
  drafts: readonly Draft[],
  call: CallContext,
  context: Pick<ToolContext, 'operation'>,
): Promise<
  readonly Posted[] | ReturnType<typeof partialFailure | typeof notVerified> | DeletedPart
> {
  const { operation } = context;
  const posted: Posted[] = [];
  /** How many parts were posted by an earlier call and not yet checked for deletion. */
  let unchecked = 0;
  let deleted: DeletedPart | undefined;
  const checkDeleted = async (): Promise<void> => {
    if (!operation || unchecked === 0) return;
    const ids = await deletedBy(operation.others).catch(failUnverified);
    deleted = deletedPart(posted, ids, drafts.length);
    if (deleted) raise(deleted);
    unchecked = 0;
  };
  for (const [index, given] of drafts.entries()) {
    const draft = { ...given, replyTo: posted.at(-1)?.id };
    try {
      let isSent = false;
      const send = async (): Promise<Posted> => {
        isSent = true;
        await checkDeleted();
        if (index > 0 && call.deadline - client.clock.now() < MIN_PART_MS) throw outOfTime();
        const claims = operation && index > 0 ? () => claimsOf(operation.others) : undefined;
        return createPost(client, draft, call, claims);
      };
      const reconcileFor = ({ account }: ToolOperation): StepReadBack<Posted> => ({
        // The journal reads a step back once, and X may show a part late.
        authoritative: false,
        readBack: (open) => readBackOf(client, draft, { ...open, account }, call),
      });
      const part: Part = operation
        ? await operation.step(`post ${index + 1}`, send, reconcileFor(operation))
        : await send();
      // Without this id the next part would be posted outside the thread.
      if (!part.id) throw new TypeError(`part ${index + 1} of a thread has no id`);
      posted.push({ ...part, text: part.text ?? draft.text });
      if (!isSent) unchecked += 1;
      if (posted.length === drafts.length) await checkDeleted();
    } catch (cause) {
      if (deleted) return deleted;
      // Nothing is posted, so the cause itself is the answer.
      if (posted.length === 0) throw cause;
      if (posted.length === drafts.length) return notVerified(posted);
      return partialFailure({ posted, index, all: drafts.length, cause, resumes: !!operation });
    }
  }
  return fitToBudget(posted);
}

/** A part that an operator settled may have only an id. */
type Part = Omit<Posted, 'text'> & Partial<Pick<Posted, 'text'>>;

type DeletedPart = NonNullable<ReturnType<typeof deletedPart>>;

/** A part was deleted with x_delete_tweet, so the next part has nothing to reply to. */
function deletedPart(posted: readonly Posted[], deleted: ReadonlySet<string>, all: number) {
  const index = posted.findIndex(({ id }) => deleted.has(id));
  const part = posted[index];
  if (!part) return undefined;
  const left = posted.map(({ id }, at) => ({ index: at, id })).filter(({ id }) => !deleted.has(id));
  const advice =
    index === 0
      ? 'Post the thread again with another idempotency_key.'
      : 'Delete its first tweet to post the thread again, or post the rest as replies.';
  const message = `Tweet ${index + 1} of the thread, ${part.id}, was deleted, so the thread does not continue. ${advice}`;
  return toolError('not_found', message, {
    details: { resource: 'tweet', id: part.id },
    data: {
      posted: left,
      failed: { index, code: 'not_found', message },
      unposted: all - left.length,
    },
  });
}

const UNVERIFIED = 'the journal could not determine whether a part was deleted.';

/** A reply to a deleted part would stand outside the thread, so nothing is sent until this is known. */
function failUnverified(): never {
  const message = `Nothing was sent: ${UNVERIFIED}`;
  return raise(toolError('db_error', message, { outcome: 'not_executed' }));
}

function notVerified(posted: readonly Posted[]) {
  const message = `All ${posted.length} tweets were posted, but ${UNVERIFIED} Call again later.`;
  return toolError('db_error', message, { data: { posted: indexed(posted), unposted: 0 } });
}

const indexed = (posted: readonly Posted[]) => posted.map(({ id }, index) => ({ index, id }));

function outOfTime(): FaultError {
  return new FaultError({ kind: 'timeout', sent: 'no', clock: 'deadline' });
}

interface PartialThread {
  readonly posted: readonly Posted[];
  readonly index: number;
  readonly all: number;
  readonly cause: unknown;
  /** Whether the same call resumes, because a journal has recorded the parts. */
  readonly resumes: boolean;
}

function partialFailure({ posted, index, all, cause, resumes }: PartialThread) {
  const { code, message, retryAfterMs } = toToolError(cause)?.input ?? {
    code: 'internal_error' as const,
    message: 'Internal error; see the server log.',
    retryAfterMs: undefined,
  };
  const details = { posted: posted.length, failed_at_index: index, cause_code: code };
  const done = `${posted.length} of ${all} tweets are posted.`;
  const part = `Tweet ${index + 1}`;
  const last = posted.at(-1)?.id;
  // The journal's code for a recorded part without an id.
  if (code === 'serialization_error') {
    return toolError(
      'thread_partial_failure',
      `${done} ${part} is recorded without an id: ${message}`,
      {
        details,
        data: {
          posted: indexed(posted),
          unknown: { index, code, message },
          unposted: all - posted.length - 1,
        },
      },
    );
  }
  if (hasUnknownOutcome(cause)) {
    const advice = resumes
      ? 'The same call reads it back and continues once it is found.'
      : `Look for it among the replies to ${last} before you post the rest.`;
    const text = `Whether tweet ${index + 1} is posted is unknown. Do not post it again. ${advice}`;
    return toolError('thread_partial_failure', `${done} ${text}`, {
      retryAfterMs,
      outcome: 'unknown',
      details,
      data: {
        posted: indexed(posted),
        unknown: { index, code, message: text },
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
    ? 'The same call resumes there.'
    : 'The same call fails again until the cause is fixed, then resumes there.';
  const advice = resumes ? resumed : `Post the rest in reply to ${last}, not from the start.`;
  return toolError('thread_partial_failure', `${done} ${part} is not: ${message} ${advice}`, {
    retryAfterMs,
    details,
    data: { posted: indexed(posted), failed, unposted: all - posted.length },
  });
}
