import { raise, toolError, type Progress } from '@toolkeel/contract';
import { FaultError, type Clock } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { idOf } from '../api/read-post.js';
import { routes, type Route } from '../api/routes.js';
import { docOf, numberOf, textOf, type Doc } from '../json.js';
import { dataIn } from '../problems/data-in.js';
import { isUnknown } from '../problems/reading-of.js';
import { unreadable } from '../problems/upstream-problem.js';
import type { Scope } from '../scope.js';
import { failedAfter, refuse, unknownFinish, whyOf, type Stage, type There } from './failure.js';
import { multipart } from './multipart.js';
import type { OpenMedia } from './open-media.js';
import { isStillProcessing, statusOf } from './processing.js';
import type { MediaKind } from './sniff.js';

const SEGMENT_BYTES = 4 * 1024 * 1024;
/** Enough for the answer to get out: an id that came too late would be lost. */
const SPARE_MS = 500;

export interface Uploaded extends There {
  /** X still works on it, as far as we know: it may not be possible to post it yet. */
  readonly processing: boolean;
}

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
  const begun = thereAfter(id, started, {});
  const finished = await finalize(client, begun, scope);
  const there = thereAfter(id, started, finished);
  const info = docOf(finished['processing_info']);
  return { ...there, processing: await isStillProcessing(client, there, info, scope) };
}

function thereAfter(id: string, started: Doc, finished: Doc): There {
  return {
    id,
    mediaKey: textOf(finished['media_key']) ?? textOf(started['media_key']),
    expiresInSecs:
      numberOf(finished['expires_after_secs']) ?? numberOf(started['expires_after_secs']),
  };
}

/** The same call, with an earlier end. */
export function withSpare(scope: Scope, clock: Clock): Scope {
  const spareMs = Math.min(SPARE_MS, (scope.deadline - clock.now()) / 10);
  return {
    ...scope,
    get signal() {
      return scope.signal;
    },
    deadline: scope.deadline - spareMs,
  };
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
    const said = `The file is uploaded as ${id}, without its alt text: ${whyOf(cause)}`;
    failedAfter('alt_text', said, media, cause);
  }
}

type Body = { readonly json: unknown } | { readonly form: ReturnType<typeof multipart> } | object;

function sender({ requests }: Client, scope: Scope) {
  return async (stage: Stage, route: Route, path: readonly string[], body: Body): Promise<Doc> => {
    try {
      const { doc } = await requests.idempotent({ route, path, ...body }, scope);
      return dataIn(doc, 'optional');
    } catch (cause) {
      return refuse(stage, cause);
    }
  };
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

/**
 * Where nobody knows how it went, X is asked. A file that X works on is finished; so is one of which X
 * has an upload and refused a second try.
 */
async function finalize(client: Client, begun: There, scope: Scope): Promise<Doc> {
  const request = { route: routes.uploadFinalize, path: [...base, begun.id, 'finalize'] };
  try {
    return dataIn((await client.requests.idempotent(request, scope)).doc, 'optional');
  } catch (cause) {
    if (!(cause instanceof FaultError) || !isUnknown(cause)) return refuse('finalize', cause);
    const seen = await statusOf(client, begun.id, scope).catch(() => undefined);
    const isFinished = cause.fault.kind === 'rejected' || docOf(seen?.['processing_info']);
    return seen && isFinished ? seen : unknownFinish(begun, cause);
  }
}
