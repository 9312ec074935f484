import type { CostEstimate } from '@toolkeel/contract';
import { findUrls } from '../text/urls.js';
import type { PriceName, Prices } from './prices.js';

const UNIT = 'USD';

/** What reading so many of them costs at most. */
export function readCost(prices: Prices, name: PriceName, count: number): CostEstimate {
  return dollars(prices[name] * count);
}

/** What a post costs: a link makes it another kind of post. */
export function postCost(
  prices: Prices,
  texts: readonly string[],
  plain: PriceName = 'post',
): CostEstimate {
  const each = texts.map((text) => prices[findUrls(text).length > 0 ? 'post_with_url' : plain]);
  return dollars(each.reduce((sum, one) => sum + one, 0));
}

/** Sums of binary fractions show digits that nobody charges. */
function dollars(amount: number): CostEstimate {
  return { amount: Math.round(amount * 1e6) / 1e6, unit: UNIT };
}
