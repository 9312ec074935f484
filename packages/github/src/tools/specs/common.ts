import * as z from 'zod';
import { CONFLICT, githubCodes } from '../../codes.js';

export const repo = z
  .string()
  .regex(/^[^/]+\/[^/]+$/)
  .describe('owner/name');
export const number = z.int().min(1);
export const text = z.string();
export const ref = z.string().min(1).optional();
export const logins = z.array(z.string()).optional();
export const labels = z.array(z.string()).optional();
const limit = z.int().min(1).max(100).default(30);

export const pageArguments = { limit, next_token: z.string().optional() };

/** A page is identified by GitHub's own link, below the origin, and the items of it to skip. */
const cursorSchema = z.strictObject({
  u: z.string().max(4000),
  k: z.exactOptional(z.int().min(0)),
});
export type PageCursor = z.output<typeof cursorSchema>;
export type CursorSchema = typeof cursorSchema;

const list = z.array(z.looseObject({}));

/** A list answer: the items, and whatever describes them. */
export const pageOf = <Name extends string>(items: Name) => ({
  output: z.looseObject({ [items]: list } as Record<Name, typeof list>),
  paging: { token: 'next_token', cursor: cursorSchema, items, unbound: ['limit'] },
});

export const read = { category: 'read', effect: 'read', errors: githubCodes } as const;
const write = { category: 'write', send: 'explicit', errors: githubCodes } as const;
export const idempotent = { ...write, effect: 'idempotent' } as const;
export const guarded = [...githubCodes, CONFLICT] as const;
export const once = {
  ...write,
  effect: 'once',
  destructive: false,
  retryUnsent: true,
  window: 30_000,
} as const;
