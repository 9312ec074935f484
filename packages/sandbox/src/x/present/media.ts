import type { Json, JsonObject } from '../../json.js';
import type { Media } from '../world/things.js';
import type { Shape } from './shape.js';

type Field = (media: Media) => Json | undefined;

const picture = ({ key }: Media): string => `https://pbs.twimg.com/media/${key}.jpg`;

const fields: Readonly<Record<string, Field>> = {
  media_key: ({ key }) => key,
  type: ({ type }) => type,
  width: ({ width }) => width,
  height: ({ height }) => height,
  alt_text: ({ altText }) => altText,
  duration_ms: ({ durationMs }) => durationMs,
  url: (media) => (media.type === 'photo' ? picture(media) : undefined),
  preview_image_url: (media) => (media.type === 'photo' ? undefined : picture(media)),
  public_metrics: ({ type }) => (type === 'video' ? { view_count: 0 } : undefined),
};

export function presentMedia(media: Media, shape: Shape): JsonObject {
  return Object.fromEntries(
    [...shape.media].flatMap((name) => {
      const value = fields[name]?.(media);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
