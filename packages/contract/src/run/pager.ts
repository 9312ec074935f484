import { randomBytes } from 'node:crypto';
import { findJsonFlaw, ownMember } from '../json.js';
import { createPageTokens, type PageTokens, type TokenRefusal } from '../page-tokens.js';
import { toolError } from '../tool/result.js';
import type { Arguments, PagingSpec } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import type { SettledFailure } from './options.js';

/** The paging of one call: where it starts, and how a cursor becomes a token. */
export interface Pager {
  readonly ok: true;
  readonly cursor?: unknown;
  readonly encode: (cursor: unknown) => string;
}

const advice: Record<TokenRefusal, string> = {
  malformed: 'It is not one of our tokens, or a part of it is missing.',
  too_long: 'It is not one of our tokens.',
  version: 'It was made by another version of this tool.',
  signature: 'It belongs to another query: a token is good for the arguments that it came with.',
  expired: 'It is too old.',
};

let ownTokens: PageTokens | undefined;

/** Without an installation's key, tokens last as long as the process. */
export function ephemeralTokens(): PageTokens {
  return (ownTokens ??= createPageTokens({ keys: [randomBytes(32)] }));
}

/** The call that a page belongs to. */
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

  const opened = tokens.decode(binding, typeof token === 'string' ? token : '');
  if (!opened.ok) return refused(paging.token, opened.reason);
  const cursor = paging.cursor.safeParse(opened.cursor);
  // We signed it, so it is not forged: the tool has changed what its cursors look like.
  return cursor.success
    ? { ok: true, cursor: cursor.data, encode }
    : refused(paging.token, 'version');
}

/**
 * Arguments as the handler gets them, so that a default is the same as what it stands for. Where the
 * schema makes something of them that JSON cannot carry (a Date), they are bound as they were sent,
 * under a name of their own.
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

function refused(field: string, reason: TokenRefusal): SettledFailure {
  const message = `${field}: this token cannot be used. ${advice[reason]} Start again without it.`;
  const { input } = toolError('invalid_input', message, {
    outcome: 'not_executed',
    details: { field, reason },
  });
  return { ok: false, error: input };
}
