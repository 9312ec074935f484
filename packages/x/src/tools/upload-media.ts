import { answer, raise, toolError } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { openMedia, type OpenMedia } from '../media/open-media.js';
import {
  kindOfGif,
  sizeLimits,
  sniff,
  SNIFF_BYTES,
  supportedTypes,
  type MediaKind,
} from '../media/sniff.js';
import { setAltText, upload, withSpare } from '../media/upload.js';
import { uploadMediaSpec } from './specs/upload-media.js';
import { xTool } from './tool.js';

export const uploadMedia = (client: Client) =>
  xTool(
    uploadMediaSpec,
    client,
    (args, { scope: given, context }) =>
      withMedia(client, args.file_path, async (media, kind) => {
        const scope = withSpare(given, client.clock);
        const sent = await upload(client, media, kind, scope, context.progress);
        if (args.alt_text !== undefined) await setAltText(client, sent, args.alt_text, scope);
        return {
          ...aboutOf(media, kind),
          media_id: sent.id,
          media_key: sent.mediaKey ?? null,
          state: sent.processing ? ('processing' as const) : ('ready' as const),
          expires_in_secs: sent.expiresInSecs ?? null,
        };
      }),
    {
      check: (args) =>
        withMedia(client, args.file_path, async (media, kind) =>
          args.dry_run ? answer({ ...aboutOf(media, kind), ...notSent }) : undefined,
        ),
    },
  );

const notSent = {
  media_id: null,
  media_key: null,
  state: 'checked',
  expires_in_secs: null,
} as const;

const aboutOf = ({ size }: OpenMedia, { type, category }: MediaKind) => ({
  media_type: type,
  media_category: category,
  size_bytes: size,
});

/** A file that may be uploaded, as long as it is needed. */
async function withMedia<T>(
  { config }: Client,
  path: string,
  use: (media: OpenMedia, kind: MediaKind) => Promise<T>,
): Promise<T> {
  const media = await openMedia(path, config.mediaDirectories);
  try {
    return await use(media, await kindOf(media));
  } finally {
    await media.file.close();
  }
}

/** By what is in the file. A size that X would refuse is refused here, before a byte is sent. */
async function kindOf({ file, size }: OpenMedia): Promise<MediaKind> {
  const head = await read(file, Math.min(size, SNIFF_BYTES));
  const kind = sniff(head);
  if (!kind) {
    return raise(
      toolError('unsupported_media_type', 'file_path: is not an image or a video that X takes.', {
        outcome: 'not_executed',
        details: { supported: [...supportedTypes] },
      }),
    );
  }
  checkSize(kind, size);
  if (kind.category !== 'tweet_gif') return kind;
  const gif = kindOfGif(await read(file, size));
  if ('problem' in gif) return tooMuch(gif.problem);
  checkSize(gif, size);
  return gif;
}

async function read(file: OpenMedia['file'], length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
  return buffer.subarray(0, bytesRead);
}

function checkSize({ category }: MediaKind, size: number): void {
  const limit = sizeLimits[category];
  if (size > limit) tooMuch(`has ${size} bytes, and X takes ${limit}`);
}

function tooMuch(problem: string): never {
  return raise(
    toolError('media_upload_error', `file_path: ${problem}.`, {
      outcome: 'not_executed',
      details: { stage: 'check' },
    }),
  );
}
