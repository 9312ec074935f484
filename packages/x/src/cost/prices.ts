/**
 * What X charges for one of each, in US dollars, as it published in 2026. A post with a link costs
 * thirteen times as much as one without, so a policy may want to ask a person about it. Only X knows
 * what it takes for its owner's own: estimates, which say what a call costs at most, do not count on it.
 */
export const defaultPrices = Object.freeze({
  post: 0.015,
  post_with_url: 0.2,
  summoned_reply: 0.01,
  interaction_create: 0.015,
  interaction_delete: 0.01,
  bookmark: 0.005,
  post_read: 0.005,
  user_read: 0.01,
  follow_read: 0.01,
  owned_read: 0.001,
});

export type PriceName = keyof typeof defaultPrices;
export type Prices = Readonly<Record<PriceName, number>>;

export function pricesOf(changed: Partial<Record<PriceName, number>>): Prices {
  return { ...defaultPrices, ...changed };
}
