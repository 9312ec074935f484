import type { Media } from '../world/things.js';

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
  // A GIF as well: one that does not move is a picture like any other.
  tweet_image: { type: 'photo', keyPrefix: '3_', largest: 5 * MB, accepts: /^image\// },
  tweet_gif: { type: 'animated_gif', keyPrefix: '16_', largest: 15 * MB, accepts: /^image\/gif$/ },
  tweet_video: { type: 'video', keyPrefix: '7_', largest: 512 * MB, accepts: /^video\// },
  amplify_video: { type: 'video', keyPrefix: '13_', largest: 512 * MB, accepts: /^video\// },
};

export function categoryOf(mediaType: string): Category {
  if (mediaType === 'image/gif') return 'tweet_gif';
  return mediaType.startsWith('video/') ? 'tweet_video' : 'tweet_image';
}
