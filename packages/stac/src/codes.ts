import type { ErrorCode } from '@toolkeel/contract';

/** What every tool that talks to a catalogue can answer, beside the codes that all tools share. */
export const catalogCodes = Object.freeze([
  'upstream_unavailable',
  'upstream_rejected',
  'rate_limited',
  'unauthorized',
  'forbidden',
  'circuit_open',
  'not_found',
  'invalid_input',
] as const satisfies readonly ErrorCode[]);
