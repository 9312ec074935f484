import type { Progress } from '@toolkeel/contract';
import { FaultError, type Clock } from '@toolkeel/kernel';
import { askAgain } from '../api/ask-again.js';
import type { Client } from '../api/client.js';
import { routes } from '../api/routes.js';
import { docOf, type Doc } from '../json.js';
import { dataIn } from '../problems/data-in.js';
import { isUnknown } from '../problems/reading-of.js';
import type { Scope } from '../scope.js';
import { failedAfter, refuse, unknownFinish, whyOf } from './failure.js';
import type { OpenMedia } from './open-media.js';
import { sendPieces } from './pieces.js';
import { isStillProcessing, statusOf } from './processing.js';
import { sender, UPLOADS } from './sender.js';
import type { MediaKind } from './sniff.js';
import { thereIn, type There } from './there.js';

/** Enough for the answer to get out: an id that came too late would be lost. */
const SPARE_MS = 500;

export interface Uploaded extends There {
  /** X still works on it, as far as we know: it may not be possible to post it yet. */
  readonly processing: boolean;
}

/** Sends a file in pieces and waits until X is done with it, as long as there is time. */
export async function upload(
  client: Client,
  media: OpenMedia,
  kind: MediaKind,
  scope: Scope,
  progress: (progress: Progress) => void,
): Promise<Uploaded> {
  const begun = await sendPieces(client, media, kind, scope, progress);
  const finished = await finalize(client, begun, scope);
  const there = thereIn(begun.id, finished, begun);
  const info = docOf(finished['processing_info']);
  return { ...there, processing: await isStillProcessing(client, there, info, scope) };
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

/**
 * Where nobody knows how it went, X is asked. A file that X works on is finished. Of any other X may
 * tell as well, whether it was ever put together or not: that it has one proves nothing.
 */
async function finalize(client: Client, begun: There, scope: Scope): Promise<Doc> {
  const request = { route: routes.uploadFinalize, path: [...UPLOADS, begun.id, 'finalize'] };
  try {
    return await askAgain(scope, async () =>
      dataIn((await client.requests.idempotent(request, scope)).doc, 'needed'),
    );
  } catch (cause) {
    if (!(cause instanceof FaultError) || !isUnknown(cause)) return refuse('finalize', cause);
    const seen = await statusOf(client, begun.id, scope).catch(() => undefined);
    return seen && docOf(seen['processing_info']) ? seen : unknownFinish(begun, cause);
  }
}
