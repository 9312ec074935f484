import { randomBytes } from 'node:crypto';
import { findJsonFlaw, ownMember } from '../json.js';
import { createPageTokens, type PageTokens, type TokenRefusal } from '../page-tokens.js';
import { toolError } from '../tool/result.js';
import type { Arguments, PagingSpec } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import type { SettledFailure } from './options.js';

/** The cursor of one call, and the encoder for the next one. */
export interface Pager {
  readonly ok: true;
  readonly cursor?: unknown;
  readonly encode: (cursor: unknown) => string;
}

const advice: Record<TokenRefusal, string> = {
  malformed: 'It is not a valid token, or part of it is missing.',
  too_long: 'It is not a valid token.',
  version: 'It was created by another version of this tool.',
  signature: 'It belongs to another query: use a token with the arguments that it came with.',
  expired: 'It has expired.',
};

let processTokens: PageTokens | undefined;

/** Tokens with a random key, valid until the process ends. */
export function ephemeralTokens(): PageTokens {
  return (processTokens ??= createPageTokens({ keys: [randomBytes(32)] }));
}

interface Query {
  readonly args: Arguments;
  readonly raw: Arguments;
  readonly account: string;
}

export function readPageToken(
  tool: Pick<Tool, 'name'>,
  paging: PagingSpec,
  { args, raw, account }: Query,
  tokens: PageTokens,
): Pager | SettledFailure {
  const binding = { tool: tool.name, account, args: boundArguments(args, raw, paging) };
  const encode = (cursor: unknown): string => tokens.encode(binding, cursor);
  const token = args[paging.token];
  if (token === undefined || token === null) return { ok: true, encode };

  const decoded = tokens.decode(binding, typeof token === 'string' ? token : '');
  if (!decoded.ok) return invalidToken(paging.token, decoded.reason);
  const cursor = paging.cursor.safeParse(decoded.cursor);
  // The signature is valid, so the tool's cursor schema has changed.
  return cursor.success
    ? { ok: true, cursor: cursor.data, encode }
    : invalidToken(paging.token, 'version');
}

/**
 * The arguments that a token is bound to, after defaults. An argument that the schema transforms to
 * something that JSON cannot represent (a Date) is bound as it was sent, under a name of its own.
 */
function boundArguments(
  args: Arguments,
  raw: Arguments,
  { token, unbound = [] }: PagingSpec,
): Arguments {
  const bound = Object.entries(args).filter(([name]) => name !== token && !unbound.includes(name));
  return Object.fromEntries(
    bound.map(([name, value]) =>
      value === undefined || !findJsonFlaw(value, { wellFormed: true })
        ? [name, value]
        : [`${name} (as sent)`, ownMember(raw, name)],
    ),
  );
}

function invalidToken(field: string, reason: TokenRefusal): SettledFailure {
  const message = `${field}: this token is not accepted. ${advice[reason]} Start again without it.`;
  const { input } = toolError('invalid_input', message, {
    outcome: 'not_executed',
    details: { field, reason },
  });
  return { ok: false, error: input };
}
