import { registerCodes, type BuiltInCode, type CodeDefinition } from '@toolkeel/contract';

/** What the codes of the contract cannot say. */
export const ownCodes = {
  github_conflict: {
    retryable: false,
    category: 'GitHub',
    description:
      'The branch, the head or the name changed meanwhile; read it again and decide anew',
    outcome: 'not_executed',
  },
} as const satisfies Readonly<Record<string, CodeDefinition>>;

const own = registerCodes('github', ownCodes);
export const CONFLICT = own.github_conflict;

/** Error codes of every tool that calls GitHub, beside the codes that all tools share. */
export const githubCodes = Object.freeze([
  'unauthorized',
  'forbidden',
  'not_found',
  'rate_limited',
  'upstream_rejected',
  'upstream_unavailable',
  'circuit_open',
] as const satisfies readonly BuiltInCode[]);
