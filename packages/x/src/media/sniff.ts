import { readGif } from './gif.js';

export type MediaCategory = 'tweet_image' | 'tweet_gif' | 'tweet_video';

/** What a file is by its content. */
export interface MediaKind {
  readonly type: string;
  readonly category: MediaCategory;
}

/** How many bytes at the beginning are enough to tell. */
export const SNIFF_BYTES = 4_096;

export const supportedTypes: readonly string[] = Object.freeze([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'video/mp4',
  'video/quicktime',
  'video/webm',
]);

const image = (type: string): MediaKind => ({ type, category: 'tweet_image' });
const video = (type: string): MediaKind => ({ type, category: 'tweet_video' });

/** The kind of a file by its first bytes, whatever its name says; undefined for what X does not take. */
export function sniff(head: Buffer): MediaKind | undefined {
  const latin = head.toString('latin1');
  if (latin.startsWith('\xFF\xD8\xFF')) return image('image/jpeg');
  if (latin.startsWith('\x89PNG\r\n\x1A\n')) return image('image/png');
  if (/^RIFF.{4}WEBP/s.test(latin)) return image('image/webp');
  if (/^GIF8[79]a/.test(latin)) return { type: 'image/gif', category: 'tweet_gif' };
  if (/^.{4}ftypqt {2}/s.test(latin)) return video('video/quicktime');
  if (/^.{4}ftyp(?:iso|mp4|avc1|M4V|dash|MSNV|f4v)/s.test(latin)) return video('video/mp4');
  if (latin.startsWith('\x1A\x45\xDF\xA3') && latin.slice(0, 64).includes('webm')) {
    return video('video/webm');
  }
  return undefined;
}

const MB = 1_000_000;

/** The largest that X takes of each. */
export const sizeLimits: Readonly<Record<MediaCategory, number>> = Object.freeze({
  tweet_image: 5 * MB,
  tweet_gif: 15 * MB,
  tweet_video: 512 * MB,
});

/** Of all frames together: each may be within its bounds, and their number too. */
const MAX_GIF_PIXELS = 300_000_000;

/** A GIF that does not move is an image, with an image's limit. What is wrong with it, or its kind. */
export function kindOfGif(bytes: Buffer): MediaKind | { readonly problem: string } {
  const gif = readGif(bytes);
  if (!gif) return { problem: 'is a broken GIF' };
  if (gif.frames <= 1) return image('image/gif');
  const { width, height, frames } = gif;
  if (width > 1280 || height > 1080) {
    return { problem: `has ${width} × ${height} pixels; X takes animated GIFs up to 1280 × 1080` };
  }
  if (frames > 350) return { problem: `has ${frames} frames; X takes 350` };
  const pixels = width * height * frames;
  if (pixels > MAX_GIF_PIXELS) {
    return { problem: `has ${pixels} pixels in its frames together; X takes ${MAX_GIF_PIXELS}` };
  }
  return { type: 'image/gif', category: 'tweet_gif' };
}
