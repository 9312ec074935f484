import { raise, toolError } from '@toolkeel/contract';
import { FaultError, type Fault } from '@toolkeel/kernel';
import { refusalIn } from '../faults.js';
import { docOf, numberOf } from '../json.js';
import { isUnknown, readingOf } from '../problems/reading-of.js';
import type { There } from './there.js';

export type Stage = 'initialize' | 'append' | 'finalize' | 'processing' | 'alt_text';

/** Everything but a plain refusal says more by itself: a limit, a login that is over, no credits. */
export function refuse(stage: Stage, cause: unknown): never {
  if (!(cause instanceof FaultError) || refusalIn(cause.fault) !== 'invalid_request') throw cause;
  const { status } = cause.fault;
  return raise(
    toolError('media_upload_error', `X refused the upload at the stage ${stage}.`, {
      outcome: 'not_executed',
      details: { stage, ...(status !== undefined && { status }) },
    }),
  );
}

/** How many pieces X has of a file, and how many there are. */
export interface Pieces {
  readonly taken: number;
  readonly count: number;
}

/**
 * An upload that nobody told X to finish is nothing that anybody sees, and X forgets it. So nothing was
 * done, whatever became of the request that failed.
 */
export function neverFinished(cause: unknown, pieces: Pieces): never {
  if (!(cause instanceof FaultError)) throw cause;
  const slow = tooSlow(cause.fault, pieces);
  const reading = slow !== undefined || isUnknown(cause) ? readingOf(cause) : undefined;
  if (!reading) throw cause;
  const { code, message, ...about } = reading.input;
  return raise(toolError(code, slow ?? message, { ...about, outcome: 'not_executed' }));
}

/** X took what it was sent, and the call ended first: to try again is of no use, more time is. */
function tooSlow({ clock }: Fault, { taken, count }: Pieces): string | undefined {
  if (clock !== 'deadline' || taken === 0) return undefined;
  return `The file needs longer than a call may take: ${taken} of ${count} pieces got to X in that time, and nothing was uploaded. The operator can set a larger toolTimeoutSecs for packs.x.`;
}

/** X has the file, so whoever asked gets its id. */
export function failedAfter(
  stage: 'processing' | 'alt_text',
  message: string,
  media: There,
  cause?: unknown,
): never {
  return withId(stage, message, media, 'executed', cause);
}

/** Whether X put the pieces together is not known. If it did, the id is all that one needs. */
export function unknownFinish(media: There, cause: unknown): never {
  const message = `Whether X finished the upload ${media.id} is not known: ${whyOf(cause)} Try to post it before you upload it again.`;
  return withId('finalize', message, media, 'unknown', cause);
}

export function whyOf(cause: unknown): string {
  return readingOf(cause)?.input.message ?? 'It failed in a way that nobody foresaw.';
}

function withId(
  stage: Stage,
  message: string,
  media: There,
  outcome: 'executed' | 'unknown',
  cause: unknown,
): never {
  const status = numberOf(docOf(readingOf(cause)?.input.details)?.['status']);
  return raise(
    toolError('media_upload_error', message, {
      outcome,
      details: { stage, ...(status !== undefined && { status }) },
      data: {
        media_id: media.id,
        media_key: media.mediaKey ?? null,
        stage,
        expires_in_secs: media.expiresInSecs ?? null,
      },
    }),
  );
}
