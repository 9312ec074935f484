import { randomBytes } from 'node:crypto';
import { raise, toolError, type Progress } from '@toolkeel/contract';
import { FaultError, type Clock, type FaultKind } from '@toolkeel/kernel';
import {
  numberOf,
  objectOf,
  pause,
  stringOf,
  type CallContext,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { idOf } from '../api/parse.js';
import { retryUnreadable } from '../api/requests.js';
import { routes, type Route } from '../api/routes.js';
import { dataIn, unreadableResponse } from '../api/upstream-problem.js';
import { hasUnknownOutcome } from '../faults.js';
import type { MediaKind, OpenMedia } from './file.js';
import {
  failAfterUpload,
  failUnfinished,
  failUnknownFinalize,
  reasonOf,
  rejectStage,
  type MediaRef,
  type Stage,
} from './upload-errors.js';

const UPLOADS: readonly string[] = ['2', 'media', 'upload'];
const SEGMENT_BYTES = 4 * 1024 * 1024;

interface UploadedMedia extends MediaRef {
  /** X is still processing the file, so a post with it may fail. */
  readonly processing: boolean;
}

/** Uploads a file in segments, and waits until X has processed it or the time is up. */
export async function upload(
  client: Client,
  media: OpenMedia,
  kind: MediaKind,
  call: CallContext,
  progress: (progress: Progress) => void,
): Promise<UploadedMedia> {
  const started = await sendSegments(client, media, kind, call, progress);
  const finished = await finalize(client, started, call);
  const uploaded = mediaRefIn(started.id, finished, started);
  const info = objectOf(finished['processing_info']);
  return { ...uploaded, processing: await awaitProcessing(client, uploaded, info, call) };
}

/** Time for the response, without which the caller would lose the media id. */
const RESPONSE_RESERVE_MS = 500;

/** The same call with an earlier deadline. */
export function withResponseReserve(call: CallContext, clock: Clock): CallContext {
  const reserveMs = Math.min(RESPONSE_RESERVE_MS, (call.deadline - clock.now()) / 10);
  return {
    ...call,
    get signal() {
      return call.signal;
    },
    deadline: call.deadline - reserveMs,
  };
}

export async function setAltText(
  client: Client,
  media: MediaRef,
  text: string,
  call: CallContext,
): Promise<void> {
  const { id } = media;
  const json = { id, metadata: { alt_text: { text } } };
  const path = ['2', 'media', 'metadata'];
  try {
    await createSender(client, call)('alt_text', routes.mediaMetadata, path, { json });
  } catch (cause) {
    const message = `The file is uploaded as ${id}, without its alt text: ${reasonOf(cause)}`;
    failAfterUpload('alt_text', message, media, cause);
  }
}

type Body = { readonly json: unknown } | { readonly form: ReturnType<typeof multipart> };

/** Sends requests that are safe to repeat: segments by position, and idempotent changes. */
function createSender({ requests }: Client, call: CallContext) {
  return async (
    stage: Stage,
    route: Route,
    path: readonly string[],
    body: Body,
  ): Promise<JsonObject> => {
    try {
      const request = { route, path, ...body };
      return await retryUnreadable(call, async () =>
        dataIn((await requests.idempotent(request, call)).doc, 'optional'),
      );
    } catch (cause) {
      return rejectStage(stage, cause);
    }
  };
}

/** Starts an upload and sends the file in segments. Nothing is executed before X finalizes it. */
async function sendSegments(
  client: Client,
  media: OpenMedia,
  kind: MediaKind,
  call: CallContext,
  progress: (progress: Progress) => void,
): Promise<MediaRef> {
  const send = createSender(client, call);
  const count = Math.ceil(media.size / SEGMENT_BYTES);
  let accepted = 0;
  try {
    const started = await send('initialize', routes.uploadInitialize, [...UPLOADS, 'initialize'], {
      json: {
        media_type: kind.type,
        media_category: kind.category,
        total_bytes: media.size,
      },
    });
    const id = idOf(started['id']);
    if (id === undefined) throw unreadableResponse();
    while (accepted < count) {
      const form = multipart({ segment_index: String(accepted) }, await segment(media, accepted));
      await send('append', routes.uploadAppend, [...UPLOADS, id, 'append'], { form });
      accepted++;
      progress({ progress: accepted, total: count + 1, message: 'uploading' });
    }
    return mediaRefIn(id, started);
  } catch (cause) {
    return failUnfinished(cause, { accepted, count });
  }
}

async function segment({ file, size }: OpenMedia, index: number): Promise<Buffer> {
  const start = index * SEGMENT_BYTES;
  const wanted = Math.min(SEGMENT_BYTES, size - start);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, start);
  if (bytesRead === wanted) return buffer;
  return raise(
    toolError('file_read_error', 'file_path: the file was truncated while it was read.', {
      outcome: 'not_executed',
    }),
  );
}

const LINE = '\r\n';

/** A multipart form with plain fields and one file. */
function multipart(fields: Readonly<Record<string, string>>, file: Buffer) {
  const boundary = `toolkeel-${randomBytes(18).toString('hex')}`;
  const part = (disposition: string, more: string): string =>
    [`--${boundary}`, `Content-Disposition: form-data; ${disposition}`, more, ''].join(LINE);
  const plain = Object.entries(fields).map(
    ([name, value]) => `${part(`name="${name}"`, '')}${value}${LINE}`,
  );
  const type = `Content-Type: application/octet-stream${LINE}`;
  const head = `${plain.join('')}${part('name="media"; filename="blob"', type)}`;
  const body = Buffer.concat([
    Buffer.from(head),
    file,
    Buffer.from(`${LINE}--${boundary}--${LINE}`),
  ]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

/** What a response says about a file, merged with what earlier responses said. */
function mediaRefIn(id: string, data: JsonObject, before?: MediaRef): MediaRef {
  return {
    id,
    mediaKey: stringOf(data['media_key']) ?? before?.mediaKey,
    expiresInSecs: numberOf(data['expires_after_secs']) ?? before?.expiresInSecs,
  };
}

/**
 * If the outcome is unknown, reads the status: processing proves that the upload was finalized. The mere
 * existence of the upload proves nothing, because X also reports unfinished ones.
 */
async function finalize(client: Client, started: MediaRef, call: CallContext): Promise<JsonObject> {
  const request = { route: routes.uploadFinalize, path: [...UPLOADS, started.id, 'finalize'] };
  try {
    return await retryUnreadable(call, async () =>
      dataIn((await client.requests.idempotent(request, call)).doc, 'required'),
    );
  } catch (cause) {
    if (!(cause instanceof FaultError) || !hasUnknownOutcome(cause)) {
      return rejectStage('finalize', cause);
    }
    const status = await fetchStatus(client, started.id, call).catch(() => undefined);
    return status && objectOf(status['processing_info'])
      ? status
      : failUnknownFinalize(started, cause);
  }
}

async function fetchStatus(client: Client, id: string, call: CallContext): Promise<JsonObject> {
  const query = { command: 'STATUS', media_id: id };
  const request = { route: routes.uploadStatus, path: UPLOADS, query };
  return dataIn((await client.requests.read(request, call)).doc, 'required');
}

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;
/** More than the delays allow within any call. */
const MAX_STATUS_CHECKS = 100;

/** X's `check_after_secs`, but at least an exponential backoff. */
export function statusDelayMs(check: number, checkAfterSecs: number | undefined): number {
  const backoffMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** check);
  return Math.max(backoffMs, (checkAfterSecs ?? 0) * 1000);
}

/** Returns true if X is still processing the file at the deadline, or no longer reports its status. */
async function awaitProcessing(
  client: Client,
  media: MediaRef,
  initial: JsonObject | undefined,
  call: CallContext,
): Promise<boolean> {
  let info = initial;
  for (let check = 0; check < MAX_STATUS_CHECKS; check++) {
    const state = stringOf(info?.['state']);
    if (info === undefined || state === 'succeeded') return false;
    if (state === 'failed') {
      const reason = processingError(info) ?? 'no reason given';
      failAfterUpload('processing', `X has the file and failed to process it: ${reason}.`, media);
    }
    const delayMs = statusDelayMs(check, numberOf(info['check_after_secs']));
    if (client.clock.now() + delayMs >= call.deadline) return true;
    await pause(client.clock, delayMs, call.signal);
    try {
      info = objectOf((await fetchStatus(client, media.id, call))['processing_info']);
    } catch (cause) {
      return statusFailed(media, cause);
    }
  }
  return true;
}

const REFUSALS: ReadonlySet<FaultKind> = new Set(['rejected', 'auth']);

/** X has the file. A timeout or rate limit says nothing about it; a rejection may, so it is reported. */
function statusFailed(media: MediaRef, cause: unknown): true {
  if (!(cause instanceof FaultError)) throw cause;
  if (!REFUSALS.has(cause.fault.kind)) return true;
  const message = `X has the file as ${media.id} and does not report whether it is ready: ${reasonOf(cause)}`;
  return failAfterUpload('processing', message, media, cause);
}

function processingError(info: JsonObject): string | undefined {
  const error = objectOf(info['error']);
  return stringOf(error?.['message']) ?? stringOf(error?.['name']);
}
