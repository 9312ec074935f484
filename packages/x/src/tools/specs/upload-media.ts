import { profilesFrom, specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { xCodes } from '../../codes.js';

export const uploadMediaSpec = specifyTool({
  category: 'media',
  // A second upload is a second file that nobody sees and that X forgets after a day.
  effect: 'idempotent',
  send: 'explicit',
  profiles: profilesFrom('api'),
  requires: ['x_client'],
  destructive: false,
  errors: [...xCodes, 'unsupported_media_type', 'file_read_error', 'media_upload_error'],
  name: 'x_upload_media',
  title: 'Upload media',
  description:
    'Uploads an image, a GIF or a video for a tweet. Only files below configured folders; dry_run only checks the file.',
  input: z.object({
    file_path: z.string().min(1).max(4096),
    alt_text: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe('What the picture shows, for those who cannot see it.'),
    dry_run: z.boolean().default(false),
  }),
  output: z.strictObject({
    media_id: z.string().nullable().describe('null after a dry run.'),
    media_key: z.string().nullable(),
    media_type: z.string(),
    media_category: z.string(),
    size_bytes: z.int(),
    state: z.enum(['checked', 'processing', 'ready']),
    expires_in_secs: z.number().nullable(),
  }),
  partial: z
    .strictObject({
      media_id: z.string(),
      media_key: z.string().nullable(),
      stage: z.enum(['finalize', 'processing', 'alt_text']),
      expires_in_secs: z.number().nullable(),
    })
    .describe(
      'The file is at X, and what came after it failed; at the stage finalize nobody knows whether it is there.',
    ),
});
