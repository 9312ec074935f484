import {
  faultToError as defaultReading,
  isToolError,
  outcomeOfFault,
  toolError,
  type StepReadBack,
  type ToolContext,
  type ToolError,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { faultToError } from '../faults.js';
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
  const failed = {
    index,
    code,
    message,
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
  };
  const advice = resumes
    ? 'The same call goes on there.'
    : `Post the rest in reply to ${posted.at(-1)?.id}, and not from the top.`;
  const text = `${posted.length} of ${all} tweets are posted; number ${index + 1} is not: ${message} ${advice}`;
  return toolError('thread_partial_failure', text, {
    retryAfterMs,
    outcome: isUnknown(cause) ? 'unknown' : undefined,
    details: { posted: posted.length, failed_at_index: index, cause_code: code },
    data: {
      posted: posted.map(({ id }, at) => ({ index: at, id })),
      failed,
      unposted: all - posted.length,
    },
  });
}

function readingOf(cause: unknown): ToolError | undefined {
  if (cause instanceof FaultError) return faultToError(cause.fault) ?? defaultReading(cause.fault);
  return raisedIn(cause);
}

function isUnknown(cause: unknown): boolean {
  if (cause instanceof FaultError) return outcomeOfFault('once', cause.fault) === 'unknown';
  return (raisedIn(cause)?.input.outcome ?? 'unknown') === 'unknown';
}

function raisedIn(cause: unknown): ToolError | undefined {
  const raised: unknown =
    typeof cause === 'object' && cause !== null && 'toolError' in cause
      ? cause.toolError
      : undefined;
  return isToolError(raised) ? raised : undefined;
}
