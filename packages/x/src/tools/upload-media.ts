import { answer } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { withMedia, type MediaKind, type OpenMedia } from '../media/file.js';
import { setAltText, upload, withResponseReserve } from '../media/upload.js';
import { uploadMediaSpec } from './specs/write.js';
import { xTool } from './tool.js';

export const uploadMedia = (client: Client) =>
  xTool(
    uploadMediaSpec,
    client,
    (args, { call: toolCall, context }) =>
      withMedia(args.file_path, client.config.mediaDirectories, async (media, kind) => {
        const call = withResponseReserve(toolCall, client.clock);
        const sent = await upload(client, media, kind, call, context.progress);
        if (args.alt_text !== undefined) await setAltText(client, sent, args.alt_text, call);
        return {
          ...describeMedia(media, kind),
          media_id: sent.id,
          media_key: sent.mediaKey ?? null,
          state: sent.processing ? ('processing' as const) : ('ready' as const),
          expires_in_secs: sent.expiresInSecs ?? null,
        };
      }),
    {
      check: (args) =>
        withMedia(args.file_path, client.config.mediaDirectories, async (media, kind) =>
          args.dry_run ? answer({ ...describeMedia(media, kind), ...notSent }) : undefined,
        ),
    },
  );

const notSent = {
  media_id: null,
  media_key: null,
  state: 'checked',
  expires_in_secs: null,
} as const;

const describeMedia = ({ size }: OpenMedia, { type, category }: MediaKind) => ({
  media_type: type,
  media_category: category,
  size_bytes: size,
});
