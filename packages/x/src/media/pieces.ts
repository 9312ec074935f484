import { raise, toolError, type Progress } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { idOf } from '../api/read-post.js';
import { routes } from '../api/routes.js';
import { unreadable } from '../problems/upstream-problem.js';
import type { Scope } from '../scope.js';
import { neverFinished } from './failure.js';
import { multipart } from './multipart.js';
import type { OpenMedia } from './open-media.js';
import { sender, UPLOADS } from './sender.js';
import type { MediaKind } from './sniff.js';
import { thereIn, type There } from './there.js';

const SEGMENT_BYTES = 4 * 1024 * 1024;

/** Begins an upload and sends the file in pieces. Nothing is done before X is told to finish it. */
export async function sendPieces(
  client: Client,
  media: OpenMedia,
  kind: MediaKind,
  scope: Scope,
  progress: (progress: Progress) => void,
): Promise<There> {
  const send = sender(client, scope);
  const count = Math.ceil(media.size / SEGMENT_BYTES);
  let taken = 0;
  try {
    const started = await send('initialize', routes.uploadInitialize, [...UPLOADS, 'initialize'], {
      json: {
        media_type: kind.type,
        media_category: kind.category,
        total_bytes: media.size,
      },
    });
    const id = idOf(started['id']);
    if (id === undefined) throw unreadable();
    while (taken < count) {
      const form = multipart({ segment_index: String(taken) }, await segment(media, taken));
      await send('append', routes.uploadAppend, [...UPLOADS, id, 'append'], { form });
      taken++;
      progress({ progress: taken, total: count + 1, message: 'uploading' });
    }
    return thereIn(id, started);
  } catch (cause) {
    return neverFinished(cause, { taken, count });
  }
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
