import { raise, toolError } from '@toolkeel/contract';
import type { XConfig } from '../config.js';
import { demandCashtags } from '../tier.js';
import { nfc } from '../text/nfc.js';
import { weightedLength } from '../text/weighted-length.js';

/** A post that is not there yet. */
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

/** Refuses what X would refuse, before anything is sent. `index` is that of a part of a thread. */
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
  if (NOT_TEXT.test(text)) invalid(field, 'holds characters that X does not accept');
  if (poll && mediaIds.length > 0) invalid('poll', 'a poll and media exclude each other');
  if (poll?.options.some(isBlank)) invalid('poll', 'an option must not be empty');
  if (new Set(mediaIds).size < mediaIds.length) invalid(media, 'names the same media twice');
  demandCashtags(text, config);
  const length = weightedLength(text);
  if (length <= limit) return;
  raise(
    toolError(
      'tweet_too_long',
      `${field} counts as ${length} characters, and ${limit} are allowed. X counts a link as 23, an emoji or a Chinese, Japanese or Korean character as 2.`,
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

/** Nobody would see anything: blanks, and what has no width. */
function isBlank(text: string): boolean {
  return !VISIBLE.test(text);
}

/** The request for it. Whoever X does not ask about is left out: X refuses null. */
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
