import { raise, toolError } from '@toolkeel/contract';
import type { XConfig } from './config.js';

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
  raise(
    toolError(
      'x_forbidden',
      `X gives ${what} to its enterprise tier only, and this account is configured as ${tier}. Nothing was sent.`,
      { details: { reason: 'tier' }, outcome: 'not_executed' },
    ),
  );
}
