import type { Arguments } from '@toolkeel/contract';
import { nfc } from '../text/nfc.js';

interface Options {
  readonly made_with_ai?: boolean | undefined;
}

interface PostArguments extends Options {
  readonly text: string;
  readonly media_ids?: readonly string[] | undefined;
}

interface ThreadArguments extends Options {
  readonly tweets: readonly string[];
  readonly media_ids?: readonly (readonly string[])[] | undefined;
}

/** The arguments of a post as far as they make a difference to X. */
export function normalizePost(args: PostArguments): Arguments {
  const { text, media_ids: media = [] } = args;
  return {
    ...args,
    ...optionsOf(args),
    text: normalText(text),
    media_ids: media.length > 0 ? media : undefined,
  };
}

/** The arguments of a thread as far as they make a difference to X. */
export function normalizeThread(args: ThreadArguments): Arguments {
  const { tweets, media_ids: media = [] } = args;
  const end = media.findLastIndex((ids) => ids.length > 0) + 1;
  return {
    ...args,
    ...optionsOf(args),
    tweets: tweets.map(normalText),
    media_ids: end > 0 ? media.slice(0, end) : undefined,
  };
}

/** X discloses nothing for `false`, as for a post that does not say. */
function optionsOf({ made_with_ai: isMade }: Options) {
  return { made_with_ai: isMade === true ? true : undefined };
}

/** X stores texts in NFC and does not show blanks at their end. */
function normalText(text: string): string {
  return nfc(text).trimEnd();
}
