import type { ErrorCode } from '@toolkeel/contract';

/** What every tool that talks to X can answer, beside the codes that all tools share. */
export const xCodes = Object.freeze([
  'x_not_configured',
  'x_rate_limited',
  'x_auth_expired',
  'x_forbidden',
  'x_account_restricted',
  'x_network_error',
  'x_api_error',
  'x_credits_depleted',
  'upstream_rejected',
  'not_found',
  'circuit_open',
] as const satisfies readonly ErrorCode[]);

export type XCode = (typeof xCodes)[number];
