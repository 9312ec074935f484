import { raise, toolError, type Progress } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { idOf } from '../api/read-post.js';
import { routes, type Route } from '../api/routes.js';
import { refusalIn } from '../faults.js';
import { docOf, numberOf, textOf, type Doc } from '../json.js';
import { pause } from '../pause.js';
import { readingOf } from '../problems/reading-of.js';
import { unreadable } from '../problems/upstream-problem.js';
import type { Scope } from '../scope.js';
import { multipart } from './multipart.js';
import type { OpenMedia } from './open-media.js';
import type { MediaKind } from './sniff.js';

const SEGMENT_BYTES = 4 * 1024 * 1024;
/** Enough for the answer to get out. */
const SPARE_MS = 500;
const DEFAULT_CHECK_SECS = 1;

export interface Uploaded {
  readonly id: string;
  readonly mediaKey: string | undefined;
  /** X still works on it: it cannot be posted yet. */
  readonly processing: boolean;
  readonly expiresInSecs: number | undefined;
}

type There = Omit<Uploaded, 'processing'>;

type Stage = 'initialize' | 'append' | 'finalize' | 'processing' | 'alt_text';

const base = ['2', 'media', 'upload'];

/** Sends a file in pieces and waits until X is done with it, as long as there is time. */
export async function upload(
  client: Client,
  media: OpenMedia,
  kind: MediaKind,
  scope: Scope,
  progress: (progress: Progress) => void,
): Promise<Uploaded> {
  const send = sender(client, scope);
  const started = await send('initialize', routes.uploadInitialize, [...base, 'initialize'], {
    json: {
      media_type: kind.type,
      media_category: kind.category,
      total_bytes: media.size,
    },
  });
  const id = idOf(started['id']);
  if (id === undefined) throw unreadable();
  const count = Math.ceil(media.size / SEGMENT_BYTES);
  for (let index = 0; index < count; index++) {
    const form = multipart({ segment_index: String(index) }, await segment(media, index));
    await send('append', routes.uploadAppend, [...base, id, 'append'], { form });
    progress({ progress: index + 1, total: count + 1, message: 'uploading' });
  }
  const finished = await finalize(client, id, scope);
  const there = {
    id,
    mediaKey: textOf(finished['media_key']) ?? textOf(started['media_key']),
    expiresInSecs:
      numberOf(finished['expires_after_secs']) ?? numberOf(started['expires_after_secs']),
  };
  const processing = await settled(client, there, docOf(finished['processing_info']), scope);
  return { ...there, processing };
}

/** What somebody hears who cannot see the picture. */
export async function setAltText(
  client: Client,
  media: Uploaded,
  text: string,
  scope: Scope,
): Promise<void> {
  const { id } = media;
  const json = { id, metadata: { alt_text: { text } } };
  const path = ['2', 'media', 'metadata'];
  try {
    await sender(client, scope)('alt_text', routes.mediaMetadata, path, { json });
  } catch (cause) {
    const { message, details } = readingOf(cause)?.input ?? {};
    const why = message ?? 'It failed in a way that nobody foresaw.';
    const said = `The file is uploaded as ${id}, without its alt text: ${why}`;
    failedAfter('alt_text', said, media, numberOf(docOf(details)?.['status']));
  }
}

type Body = { readonly json: unknown } | { readonly form: ReturnType<typeof multipart> } | object;

function sender({ requests }: Client, scope: Scope) {
  return async (stage: Stage, route: Route, path: readonly string[], body: Body): Promise<Doc> => {
    try {
      const { doc } = await requests.idempotent({ route, path, ...body }, scope);
      return docOf(doc['data']) ?? {};
    } catch (cause) {
      return refuse(stage, cause);
    }
  };
}

/** Everything but a plain refusal says more by itself: a limit, a login that is over, no credits. */
function refuse(stage: Stage, cause: unknown): never {
  if (!(cause instanceof FaultError) || refusalIn(cause.fault) !== 'invalid_request') throw cause;
  const { status } = cause.fault;
  return failed(stage, `X refused the upload at the stage ${stage}.`, status);
}

function failed(stage: Stage, message: string, status?: number): never {
  return raise(
    toolError('media_upload_error', message, {
      outcome: 'not_executed',
      details: { stage, ...(status !== undefined && { status }) },
    }),
  );
}

/** X has the file, so whoever asked gets its id. */
function failedAfter(stage: Stage, message: string, media: There, status?: number): never {
  return raise(
    toolError('media_upload_error', message, {
      outcome: 'executed',
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

async function segment({ file, size }: OpenMedia, index: number): Promise<Buffer> {
  const start = index * SEGMENT_BYTES;
  const wanted = Math.min(SEGMENT_BYTES, size - start);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, start);
  if (bytesRead === wanted) return buffer;
  return raise(
    toolError('file_read_error', 'file_path: the file became shorter while it was read.', {
      outcome: 'not_executed',
    }),
  );
}

/** A second try after a first one that got through is refused: then the status tells how it went. */
async function finalize(client: Client, id: string, scope: Scope): Promise<Doc> {
  const request = { route: routes.uploadFinalize, path: [...base, id, 'finalize'] };
  try {
    return docOf((await client.requests.idempotent(request, scope)).doc['data']) ?? {};
  } catch (cause) {
    if (
      cause instanceof FaultError &&
      cause.fault.kind === 'rejected' &&
      cause.fault.sent === 'maybe'
    ) {
      return status(client, id, scope);
    }
    return refuse('finalize', cause);
  }
}

async function status(client: Client, id: string, scope: Scope): Promise<Doc> {
  const query = { command: 'STATUS', media_id: id };
  const { doc } = await client.requests.read(
    { route: routes.uploadStatus, path: base, query },
    scope,
  );
  return docOf(doc['data']) ?? {};
}

/** Whether X still works on it when the time is up. */
async function settled(
  client: Client,
  there: There,
  given: Doc | undefined,
  scope: Scope,
): Promise<boolean> {
  let info = given;
  for (;;) {
    const state = textOf(info?.['state']);
    if (info === undefined || state === 'succeeded') return false;
    if (state === 'failed') {
      const why = reasonIn(info) ?? 'it does not say why';
      failedAfter('processing', `X has the file and could not use it: ${why}.`, there);
    }
    const secs = numberOf(info['check_after_secs']) ?? DEFAULT_CHECK_SECS;
    const waitMs = Math.max(0, secs) * 1000;
    if (client.clock.now() + waitMs + SPARE_MS >= scope.deadline) return true;
    await pause(client.clock, waitMs, scope.signal);
    info = docOf((await status(client, there.id, scope))['processing_info']);
  }
}

function reasonIn(info: Doc): string | undefined {
  const error = docOf(info['error']);
  return textOf(error?.['message']) ?? textOf(error?.['name']);
}
