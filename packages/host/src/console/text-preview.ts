import type { TextPreview } from '@toolkeel/console';

/** How a text among the arguments of a tool will look; undefined if there is none. */
export type TextPreviewOf = (
  tool: string,
  args: Readonly<Record<string, unknown>>,
) => Promise<TextPreview | undefined>;

const TEXTS = ['text', 'body', 'message', 'content', 'comment'];

/** Counts characters as people do, for tools whose upstream is not known to count differently. */
export const plainTextPreview: TextPreviewOf = (_tool, args) => {
  const argument = TEXTS.find((name) => typeof args[name] === 'string');
  if (argument === undefined) return Promise.resolve(undefined);
  const value = args[argument] as string;
  const length = [...new Intl.Segmenter().segment(value)].length;
  return Promise.resolve({ argument, value, kind: 'text', length });
};
