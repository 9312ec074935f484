import type { CostEstimate } from '@toolkeel/contract';
import type { PriceName, Prices } from './config.js';
import { findUrls } from './text/urls.js';

const UNIT = 'USD';

/** The highest cost of a request for `count` items. */
export function itemCost(prices: Prices, name: PriceName, count: number): CostEstimate {
  return dollars(prices[name] * count);
}

/** The cost of posts; X charges more for a post with a link. */
export function postCost(
  prices: Prices,
  texts: readonly string[],
  plain: PriceName = 'post',
): CostEstimate {
  const each = texts.map((text) => prices[findUrls(text).length > 0 ? 'post_with_url' : plain]);
  return dollars(each.reduce((sum, one) => sum + one, 0));
}

/** Removes floating-point noise. */
function dollars(amount: number): CostEstimate {
  return { amount: Math.round(amount * 1e6) / 1e6, unit: UNIT };
}
