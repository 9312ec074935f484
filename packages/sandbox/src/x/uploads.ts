import type { JsonObject } from '../json.js';
import type { Clock } from '../server/clock.js';
import type { Media } from './world/records.js';

/** A media upload, of which only the sizes are kept. */
export interface Upload {
  readonly id: string;
  readonly ownerId: string;
  readonly category: Category;
  readonly totalBytes: number;
  readonly media: Media;
  /** Segment sizes by index; a repeated segment replaces the first. */
  readonly segments: Map<number, number>;
  expiresAt: number;
  finalized?: { readonly at: number; readonly fails: boolean };
}

export type Uploads = ReturnType<typeof createUploads>;

interface ProcessingOptions {
  /** The processing time of videos and animated GIFs. */
  readonly processingMs: number;
  readonly checkAfterSecs: number;
}

const LIFETIME = 24 * 60 * 60_000;

export function createUploads(clock: Clock, { processingMs, checkAfterSecs }: ProcessingOptions) {
  const uploads = new Map<string, Upload>();
  const needsWork = ({ category }: Upload): boolean => category !== 'tweet_image';
  const progressOf = ({ finalized }: Upload): number => {
    if (!finalized) return 0;
    return processingMs === 0 ? 1 : Math.min(1, (clock.now() - finalized.at) / processingMs);
  };

  return {
    begin: (id: string, ownerId: string, category: Category, totalBytes: number): Upload => {
      const { type, keyPrefix } = kinds[category];
      const media: Media = {
        id,
        key: keyPrefix + id,
        ownerId,
        type,
        width: 1200,
        height: 675,
        ...(type === 'video' && { durationMs: 12_000 }),
      };
      const expiresAt = clock.now() + LIFETIME;
      const segments = new Map<number, number>();
      const upload: Upload = { id, ownerId, category, totalBytes, media, segments, expiresAt };
      uploads.set(id, upload);
      return upload;
    },
    of: (id: string, ownerId: string): Upload | undefined => {
      const upload = uploads.get(id);
      return upload?.ownerId === ownerId && upload.expiresAt > clock.now() ? upload : undefined;
    },
    finalize: (upload: Upload, fails: boolean): void => {
      upload.finalized = { at: clock.now(), fails };
      upload.expiresAt = clock.now() + LIFETIME;
    },
    /** The processing state; undefined for media that need none. */
    processing: (upload: Upload): JsonObject | undefined => {
      const { finalized } = upload;
      if (!needsWork(upload) || !finalized) return undefined;
      const progress = progressOf(upload);
      const percent = Math.floor(progress * 100);
      if (progress < 0.25) return { state: 'pending', check_after_secs: checkAfterSecs };
      if (progress < 1)
        return {
          state: 'in_progress',
          check_after_secs: checkAfterSecs,
          progress_percent: percent,
        };
      if (!finalized.fails) return { state: 'succeeded', progress_percent: 100 };
      const message = 'Unsupported video format';
      return {
        state: 'failed',
        progress_percent: 0,
        error: { code: 1, name: 'InvalidMedia', message },
      };
    },
    isReady: (upload: Upload): boolean => {
      const { finalized } = upload;
      if (!finalized) return false;
      return !needsWork(upload) || (progressOf(upload) === 1 && !finalized.fails);
    },
  };
}

export const mediaTypes = [
  'video/mp4',
  'video/webm',
  'video/mp2t',
  'video/quicktime',
  'text/srt',
  'text/vtt',
  'image/jpeg',
  'image/gif',
  'image/bmp',
  'image/png',
  'image/webp',
  'image/pjpeg',
  'image/tiff',
  'model/gltf-binary',
  'model/vnd.usdz+zip',
] as const;

export const categories = ['tweet_image', 'tweet_gif', 'tweet_video', 'amplify_video'] as const;
export type Category = (typeof categories)[number];

interface Kind {
  readonly type: Media['type'];
  readonly keyPrefix: string;
  readonly largest: number;
  readonly accepts: RegExp;
}

const MB = 1024 * 1024;

export const kinds: Readonly<Record<Category, Kind>> = {
  // Includes GIFs, which may be still images.
  tweet_image: { type: 'photo', keyPrefix: '3_', largest: 5 * MB, accepts: /^image\// },
  tweet_gif: { type: 'animated_gif', keyPrefix: '16_', largest: 15 * MB, accepts: /^image\/gif$/ },
  tweet_video: { type: 'video', keyPrefix: '7_', largest: 512 * MB, accepts: /^video\// },
  amplify_video: { type: 'video', keyPrefix: '13_', largest: 512 * MB, accepts: /^video\// },
};

export function categoryOf(mediaType: string): Category {
  if (mediaType === 'image/gif') return 'tweet_gif';
  return mediaType.startsWith('video/') ? 'tweet_video' : 'tweet_image';
}
