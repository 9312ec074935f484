import { raise, toolError } from '@toolkeel/contract';
import { FaultError, type Fault } from '@toolkeel/kernel';
import { numberOf, objectOf } from '@toolkeel/pack-kit';
import { hasUnknownOutcome, refusalOfFault, toToolError } from '../faults.js';

export type Stage = 'initialize' | 'append' | 'finalize' | 'processing' | 'alt_text';

/** A file that X has, or may have. */
export interface MediaRef {
  readonly id: string;
  readonly mediaKey: string | undefined;
  readonly expiresInSecs: number | undefined;
}

/** Adds the stage to a plain rejection. Other faults (rate limit, credits, login) say more by themselves. */
export function rejectStage(stage: Stage, cause: unknown): never {
  if (!(cause instanceof FaultError) || refusalOfFault(cause.fault) !== 'invalid_request') {
    throw cause;
  }
  const { status } = cause.fault;
  return raise(
    toolError('media_upload_error', `X rejected the upload at the stage ${stage}.`, {
      outcome: 'not_executed',
      details: { stage, ...(status !== undefined && { status }) },
    }),
  );
}

/** How many segments of the file X has accepted, and how many there are. */
interface UploadProgress {
  readonly accepted: number;
  readonly count: number;
}

/** An upload that was not finalized is invisible and X deletes it, so nothing was executed. */
export function failUnfinished(cause: unknown, progress: UploadProgress): never {
  if (!(cause instanceof FaultError)) throw cause;
  const slow = tooSlow(cause.fault, progress);
  const error = slow !== undefined || hasUnknownOutcome(cause) ? toToolError(cause) : undefined;
  if (!error) throw cause;
  const { code, message, ...about } = error.input;
  return raise(toolError(code, slow ?? message, { ...about, outcome: 'not_executed' }));
}

/** The call ended while X was accepting segments: a retry fails as well, a longer timeout helps. */
function tooSlow({ clock }: Fault, { accepted, count }: UploadProgress): string | undefined {
  if (clock !== 'deadline' || accepted === 0) return undefined;
  return `The upload takes longer than a call may: X accepted ${accepted} of ${count} segments, and nothing was uploaded. The operator can raise packs.x.toolTimeoutSecs.`;
}

/** X has the file, so the error carries its id. */
export function failAfterUpload(
  stage: 'processing' | 'alt_text',
  message: string,
  media: MediaRef,
  cause?: unknown,
): never {
  return failWithId(stage, message, media, 'executed', cause);
}

/** Whether X finalized the upload is unknown. If it did, the caller can use the id. */
export function failUnknownFinalize(media: MediaRef, cause: unknown): never {
  const message = `Whether X finished the upload ${media.id} is unknown: ${reasonOf(cause)} Try to post it before uploading it again.`;
  return failWithId('finalize', message, media, 'unknown', cause);
}

export function reasonOf(cause: unknown): string {
  return toToolError(cause)?.input.message ?? 'Internal error; see the server log.';
}

function failWithId(
  stage: Stage,
  message: string,
  media: MediaRef,
  outcome: 'executed' | 'unknown',
  cause: unknown,
): never {
  const status = numberOf(objectOf(toToolError(cause)?.input.details)?.['status']);
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
