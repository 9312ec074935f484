import { registerCodes, type BuiltInCode, type CodeDefinition } from '@toolkeel/contract';

/** What the codes of the contract cannot say. */
export const ownCodes = {
  x_credits_depleted: {
    retryable: false,
    category: 'X API',
    description: 'The X account has no credits left',
    class: 'governance',
  },
} as const satisfies Readonly<Record<string, CodeDefinition>>;

const own = registerCodes('x', ownCodes);
export const CREDITS_DEPLETED = own.x_credits_depleted;

/** Error codes of every tool that calls X, beside the codes that all tools share. */
export const xCodes = Object.freeze([
  'x_not_configured',
  'x_rate_limited',
  'x_auth_expired',
  'x_forbidden',
  'x_account_restricted',
  'x_network_error',
  'x_api_error',
  'upstream_rejected',
  'not_found',
  'circuit_open',
  CREDITS_DEPLETED,
] as const satisfies readonly (BuiltInCode | keyof typeof own)[]);

export type XCode = (typeof xCodes)[number];
