import { raise, toolError } from '@toolkeel/contract';
import type { XConfig } from './config.js';
import { countCashtags } from './text/cashtags.js';

/** What X took from everybody who does not pay for its enterprise tier. */
export const enterpriseOnly: Readonly<Record<string, string>> = {
  x_like_tweet: 'likes',
  x_unlike_tweet: 'likes',
  x_follow_user: 'follows',
  x_quote_tweet: 'quotes',
};

/** A call that X is known to refuse is not made. */
export function demandTier(tool: string, { tier }: XConfig): void {
  const what = enterpriseOnly[tool];
  if (what === undefined || tier === 'enterprise') return;
  refuse(`X gives ${what} to its enterprise tier only, and`, tier);
}

/** Every other tier may name one stock in a post. */
export function demandCashtags(text: string, { tier }: Pick<XConfig, 'tier'>): void {
  const count = countCashtags(text);
  if (count <= 1 || tier === 'enterprise') return;
  refuse(`X takes ${count} cashtags in one post from its enterprise tier only, and`, tier);
}

function refuse(why: string, tier: XConfig['tier']): never {
  return raise(
    toolError('x_forbidden', `${why} this account is configured as ${tier}. Nothing was sent.`, {
      details: { reason: 'tier' },
      outcome: 'not_executed',
    }),
  );
}
