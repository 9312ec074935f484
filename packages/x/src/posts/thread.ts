import { toolError, type StepReadBack, type ToolContext } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { isUnknown, readingOf } from '../problems/reading-of.js';
import type { Scope } from '../scope.js';
import { claimsOf } from './claims.js';
import { createKnownPost, createPost } from './create.js';
import type { Draft } from './draft.js';
import { readBack, type Posted } from './read-back.js';

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
  { operation }: Pick<ToolContext, 'operation'>,
): Promise<readonly Posted[] | ReturnType<typeof partialFailure>> {
  const posted: Posted[] = [];
  for (const [index, given] of drafts.entries()) {
    const draft = { ...given, replyTo: posted.at(-1)?.id };
    try {
      const send = (): Promise<Posted> => {
        if (index > 0 && scope.deadline - client.clock.now() < LEAST_MS) throw outOfTime();
        return operation
          ? createPost(client, draft, scope)
          : createKnownPost(client, draft, scope, {});
      };
      const reconcile: StepReadBack<Posted> = {
        authoritative: false,
        readBack: ({ sentAt, others }) =>
          readBack(client, draft, sentAt, scope, async () => claimsOf(await others())),
      };
      posted.push(
        operation ? await operation.step(`post ${index + 1}`, send, reconcile) : await send(),
      );
    } catch (cause) {
      // Nothing stands there yet, so that the cause itself is the answer.
      if (posted.length === 0) throw cause;
      return partialFailure({ posted, index, all: drafts.length, cause, resumes: !!operation });
    }
  }
  return posted;
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
  const advice = resumes
    ? 'The same call goes on there.'
    : `Post the rest in reply to ${last}, and not from the top.`;
  const text = `${begin} number ${index + 1} is not: ${message} ${advice}`;
  return toolError('thread_partial_failure', text, {
    retryAfterMs,
    details,
    data: { posted: there, failed, unposted: all - posted.length },
  });
}
