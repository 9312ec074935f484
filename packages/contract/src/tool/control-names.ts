/** Arguments that speak to the journal and not to the tool. No tool may have its own by that name. */
export const CONTROL_ARGUMENTS = Object.freeze(['idempotency_key', 'allow_duplicate'] as const);
