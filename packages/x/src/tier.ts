import { raise, toolError } from '@toolkeel/contract';
import type { XConfig } from './config.js';

/** Tools that require X's enterprise tier, and what they do. */
export const enterpriseOnly: Readonly<Record<string, string>> = {
  x_like_tweet: 'likes',
  x_unlike_tweet: 'likes',
  x_follow_user: 'follows',
  x_quote_tweet: 'quotes',
};

/** Rejects a call that X would reject. */
export function requireTier(tool: string, { tier }: XConfig): void {
  const feature = enterpriseOnly[tool];
  if (feature === undefined || tier === 'enterprise') return;
  reject(`X allows ${feature} in its enterprise tier only`, tier);
}

/** The other tiers allow one cashtag per post. */
export function requireCashtagLimit(text: string, { tier }: Pick<XConfig, 'tier'>): void {
  const count = countCashtags(text);
  if (count <= 1 || tier === 'enterprise') return;
  reject(`X allows ${count} cashtags in one post in its enterprise tier only`, tier);
}

function reject(reason: string, tier: XConfig['tier']): never {
  return raise(
    toolError(
      'x_forbidden',
      `${reason}, and this account is configured as ${tier}. Nothing was sent.`,
      {
        details: { reason: 'tier' },
        outcome: 'not_executed',
      },
    ),
  );
}

/** X's whitespace before a cashtag differs from `\s`, and excludes directional marks. */
const BLANK =
  '[\\t-\\r \\x85\\xA0\\u1680\\u180E\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000]';

/** A dollar sign and a ticker symbol, between whitespace or punctuation. */
const CASHTAG = new RegExp(
  `(?<=^|${BLANK})\\$[a-z]{1,6}(?:[._][a-z]{1,2})?(?=$|\\s|[!'#%&()*+,\\\\\\-./:;<=>?@[\\]^_{|}~$])`,
  'gi',
);

export function countCashtags(text: string): number {
  return text.includes('$') ? [...text.matchAll(CASHTAG)].length : 0;
}
