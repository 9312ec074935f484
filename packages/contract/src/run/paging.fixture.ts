import { expect } from 'vitest';
import * as z from 'zod';
import { envelopeSchema } from '../envelope/schema.js';
import { createPageTokens } from '../page-tokens.js';
import { defineTool } from '../tool/define.js';
import { page } from '../tool/result.js';
import type { Tool } from '../tool/tool.js';
import type { RunOptions } from './options.js';
import { runTool } from './run-tool.js';

const tokens = createPageTokens({ keys: [new Uint8Array(32).fill(7)] });
export const base = {
  name: 'search_items',
  title: 'Search',
  description: 'Searches.',
  category: 'read',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  input: z.object({
    q: z.string().default(''),
    limit: z.int().default(10),
    page_token: z.string().optional(),
    fields: z.array(z.string()).optional(),
  }),
  output: z.object({ items: z.array(z.string()), source: z.string() }),
  errors: [],
  paging: {
    token: 'page_token',
    cursor: z.strictObject({ from: z.int() }),
    items: 'items',
    unbound: ['limit'],
  },
} as const;

/** A list tool over these strings, `limit` per page. */
export function listOf(texts: readonly string[], more: object = {}) {
  return defineTool({
    ...base,
    ...more,
    handler: ({ limit }, { cursor }) => {
      const from = cursor?.from ?? 0;
      const items = texts.slice(from, from + limit);
      const next = from + limit < texts.length ? { from: from + limit } : undefined;
      return page({ items, source: 's' }, { next, after: (kept) => ({ from: from + kept }) });
    },
  });
}

export async function get(tool: Tool, args: object, options: RunOptions = {}) {
  const run = await runTool(tool, args, { tokens, ...options });
  expect(envelopeSchema.safeParse(JSON.parse(run.text)).error).toBeUndefined();
  const { envelope } = run;
  return {
    ...run,
    items: envelope.success ? (envelope.data as { items: string[] }).items : [],
    pagination: envelope.meta.pagination,
    token: envelope.meta.pagination?.next_token,
  };
}

/** Follows the tokens and returns all items with the number of pages. */
export async function readAll(tool: Tool, args: object, options: RunOptions = {}) {
  const seen: string[] = [];
  for (let pages = 1, token: string | undefined; ; pages += 1) {
    const result = await get(
      tool,
      token === undefined ? args : { ...args, page_token: token },
      options,
    );
    expect(result.bytes).toBeLessThanOrEqual(options.byteBudget ?? 48 * 1024);
    seen.push(...result.items);
    token = result.token;
    if (token === undefined) return { seen, pages, last: result };
  }
}

export const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
