import { type Arguments, raise, toolError } from '@toolkeel/contract';
import type { XConfig } from '../config.js';
import { nfc } from '../text/strings.js';
import { weightedLength } from '../text/weighted-length.js';
import { requireCashtagLimit } from '../tier.js';

/** A post to be created. */
export interface Draft {
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly quoteOf?: string | undefined;
  readonly mediaIds?: readonly string[] | undefined;
  readonly poll?:
    | { readonly options: readonly string[]; readonly duration_minutes: number }
    | undefined;
  readonly replySettings?: string | undefined;
  readonly madeWithAi?: boolean | undefined;
}

const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\p{Cc}]/u;
const NOT_TEXT = /[\uFFFE\uFEFF\uFFFF]/;

/** Rejects a post that X would reject, before anything is sent. `index` is the position in a thread. */
export function checkDraft(
  draft: Draft,
  config: Pick<XConfig, 'maxPostLength' | 'tier'>,
  index?: number,
): undefined {
  const limit = config.maxPostLength;
  const { text, mediaIds = [], poll } = draft;
  const field = index === undefined ? 'text' : `tweets[${index}]`;
  const media = index === undefined ? 'media_ids' : `media_ids[${index}]`;
  if (isBlank(text) && (mediaIds.length === 0 || poll)) invalid(field, 'must not be empty');
  if (NOT_TEXT.test(text)) invalid(field, 'contains characters that X does not accept');
  if (poll && mediaIds.length > 0) invalid('poll', 'a poll and media exclude each other');
  if (poll?.options.some(isBlank)) invalid('poll', 'an option must not be empty');
  if (new Set(mediaIds).size < mediaIds.length) invalid(media, 'names the same media twice');
  requireCashtagLimit(text, config);
  const length = weightedLength(text);
  if (length <= limit) return;
  raise(
    toolError(
      'tweet_too_long',
      `${field} counts as ${length} characters; the limit is ${limit}. X counts a link as 23, an emoji or a Chinese, Japanese or Korean character as 2.`,
      {
        outcome: 'not_executed',
        details: { weighted_length: length, limit, ...(index !== undefined && { index }) },
      },
    ),
  );
}

function invalid(field: string, reason: string): never {
  return raise(
    toolError('invalid_input', `${field}: ${reason}`, {
      outcome: 'not_executed',
      details: { field, reason },
    }),
  );
}

/** Only whitespace and characters without width. */
function isBlank(text: string): boolean {
  return !VISIBLE.test(text);
}

/** The request body. Absent members are omitted, because X rejects null. */
export function bodyOf(draft: Draft): Readonly<Record<string, unknown>> {
  const { text, replyTo, quoteOf, mediaIds = [], poll, replySettings, madeWithAi } = draft;
  return {
    text: nfc(text),
    ...(replyTo !== undefined && { reply: { in_reply_to_tweet_id: replyTo } }),
    ...(quoteOf !== undefined && { quote_tweet_id: quoteOf }),
    ...(mediaIds.length > 0 && { media: { media_ids: mediaIds } }),
    ...(poll && { poll }),
    ...(replySettings !== undefined && { reply_settings: replySettings }),
    ...(madeWithAi !== undefined && { made_with_ai: madeWithAi }),
  };
}

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

/** The arguments of a post without differences that X ignores. */
export function normalizePost(args: PostArguments): Arguments {
  const { text, media_ids: media = [] } = args;
  return {
    ...args,
    ...normalizeOptions(args),
    text: normalText(text),
    media_ids: media.length > 0 ? media : undefined,
  };
}

/** The arguments of a thread without differences that X ignores. */
export function normalizeThread(args: ThreadArguments): Arguments {
  const { tweets, media_ids: media = [] } = args;
  const end = media.findLastIndex((ids) => ids.length > 0) + 1;
  return {
    ...args,
    ...normalizeOptions(args),
    tweets: tweets.map(normalText),
    media_ids: end > 0 ? media.slice(0, end) : undefined,
  };
}

/** X treats `false` like an absent value. */
function normalizeOptions({ made_with_ai: isMade }: Options) {
  return { made_with_ai: isMade === true ? true : undefined };
}

/** X stores texts in NFC and without trailing whitespace. */
function normalText(text: string): string {
  return nfc(text).trimEnd();
}
