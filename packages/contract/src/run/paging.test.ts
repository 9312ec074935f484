import { VirtualClock } from '@toolkeel/kernel/testing';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { containing, matching, some } from '../matchers.fixture.js';
import { ownMember } from '../own-member.js';
import { envelopeSchema } from '../envelope/schema.js';
import { createPageTokens } from '../paging/tokens.js';
import { defineTool } from '../tool/define.js';
import { page } from '../tool/result.js';
import type { Tool } from '../tool/tool.js';
import type { RunOptions } from './options.js';
import { runTool } from './run-tool.js';

const tokens = createPageTokens({ keys: [new Uint8Array(32).fill(7)] });
const base = {
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

/** A list tool over these texts, `limit` at a time. */
function listOf(texts: readonly string[], more: object = {}) {
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

async function get(tool: Tool, args: object, options: RunOptions = {}) {
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

/** Every item that an agent sees who follows the tokens, with the number of pages. */
async function readAll(tool: Tool, args: object, options: RunOptions = {}) {
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

const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');

describe('paging', () => {
  it('says how many there are and whether there is more', async () => {
    const first = await get(listOf(letters), { limit: 20 });
    expect(first.pagination).toEqual({ next_token: first.token, result_count: 20, has_more: true });
    const second = await get(listOf(letters), { limit: 20, page_token: first.token });
    expect(second.pagination).toEqual({ result_count: 6, has_more: false });
    expect([...first.items, ...second.items]).toEqual(letters);
  });

  it('goes on after a restart, with the same key', async () => {
    const { token } = await get(listOf(letters), {});
    const restarted = createPageTokens({ keys: [new Uint8Array(32).fill(7)] });
    expect(
      (await get(listOf(letters), { page_token: token }, { tokens: restarted })).items[0],
    ).toBe('k');
  });

  it('works without a key for as long as the process lives', async () => {
    const tool = listOf(letters);
    const { envelope } = await runTool(tool, {});
    const again = await runTool(tool, { page_token: envelope.meta.pagination?.next_token });
    expect(again.envelope.data).toMatchObject({ items: letters.slice(10, 20) });
  });

  it('allows what is not bound to change from page to page', async () => {
    const { token } = await get(listOf(letters), { limit: 2 });
    expect((await get(listOf(letters), { limit: 3, page_token: token })).items).toEqual([
      'c',
      'd',
      'e',
    ]);
  });

  it('counts a default as what it stands for', async () => {
    const { token } = await get(listOf(letters), {});
    expect((await get(listOf(letters), { q: '', page_token: token })).items[0]).toBe('k');
  });

  it('is in the answer of a list tool also when its handler says nothing of pages', async () => {
    const tool = defineTool({ ...base, handler: () => ({ items: ['a'], source: 's' }) });
    expect((await get(tool, {})).pagination).toEqual({ result_count: 1, has_more: false });
  });

  it('works where the data is the list itself', async () => {
    const { items: _, ...paging } = base.paging;
    const tool = defineTool({
      ...base,
      output: z.array(z.string()),
      paging,
      handler: () => page(letters, { next: { from: 26 }, after: (from) => ({ from }) }),
    });
    expect((await get(tool, {})).pagination).toMatchObject({ result_count: 26, has_more: true });
    const cut = await runTool(tool, {}, { byteBudget: 330 });
    expect(cut.envelope.success && cut.envelope.data.length).toBe(
      cut.envelope.meta.pagination?.result_count,
    );
    expect(cut.bytes).toBeLessThanOrEqual(330);
  });
});

describe('an argument that is bound', () => {
  const input = z.object({
    since: z
      .string()
      .transform((text) => new Date(text))
      .optional(),
    page_token: z.string().optional(),
  });
  const { unbound: _, ...paging } = base.paging;
  const tool = defineTool({
    ...base,
    input,
    paging,
    handler: ({ since }) =>
      page({ items: [String(since?.getUTCFullYear())], source: 's' }, { next: { from: 1 } }),
  });

  it('may become something that is no JSON, such as a Date', async () => {
    const first = await get(tool, { since: '2020-01-01' });
    expect(first.items).toEqual(['2020']);
    const page_token = first.token;
    expect((await get(tool, { since: '2020-01-01', page_token })).items).toEqual(['2020']);
  });

  it('binds all the same', async () => {
    const { token: page_token } = await get(tool, { since: '2020-01-01' });
    for (const since of ['2021-01-01', undefined]) {
      const { envelope } = await get(tool, { since, page_token });
      expect(envelope.error).toMatchObject({ details: { reason: 'signature' } });
    }
  });

  it('as it was sent is not taken for another one as the handler gets it', async () => {
    const swapped = defineTool({
      ...base,
      paging,
      input: z.object({
        q: z.string().transform((text) => (text === 'x' ? new Date(0) : 'x')),
        page_token: z.string().optional(),
      }),
      handler: () => page({ items: [], source: 's' }, { next: { from: 1 } }),
    });
    const { token: page_token } = await get(swapped, { q: 'x' });
    const { envelope } = await get(swapped, { q: 'y', page_token });
    expect(envelope.error).toMatchObject({ details: { reason: 'signature' } });
  });

  it('of half a surrogate pair is a mistake of the caller, not ours', async () => {
    const { envelope } = await get(listOf(letters), { q: '\uDC00' });
    expect(envelope.error).toMatchObject({
      code: 'validation_error',
      details: { issues: [{ field: 'q', message: some(String) }] },
    });
  });
});

describe('a token that cannot be used', () => {
  it.each<[string, (token: string) => object, string]>([
    ['cut short', (token) => ({ page_token: token.slice(0, -4) }), 'signature'],
    ['made up', () => ({ page_token: 'page2' }), 'malformed'],
    ['empty', () => ({ page_token: '' }), 'malformed'],
    ['of another query', (token) => ({ q: 'other', page_token: token }), 'signature'],
  ])('%s is invalid input and names the field', async (_, args, reason) => {
    const { token = '' } = await get(listOf(letters), {});
    const handler = vi.fn();
    const tool = { ...listOf(letters), handler };
    const { envelope } = await get(tool, args(token));
    expect(envelope.error).toMatchObject({
      code: 'invalid_input',
      retryable: false,
      message: matching(/^page_token: .* Start again without it\.$/),
      details: { field: 'page_token', reason },
    });
    expect(handler).not.toHaveBeenCalled();
  });

  it('of another tool or account is refused', async () => {
    const { token } = await get(listOf(letters), {});
    for (const more of [{ name: 'search_other' }, { account: 'other' }]) {
      const { envelope } = await get(listOf(letters, more), { page_token: token });
      expect(envelope.error).toMatchObject({ details: { reason: 'signature' } });
    }
  });

  it('with a cursor that the tool no longer understands is refused', async () => {
    const { token } = await get(listOf(letters), {});
    const changed = listOf(letters, {
      paging: { ...base.paging, cursor: z.strictObject({ after: z.string() }) },
    });
    expect((await get(changed, { page_token: token })).envelope.error).toMatchObject({
      code: 'invalid_input',
      details: { reason: 'version' },
    });
  });
});

describe('the byte budget', () => {
  it('is 48 KiB in UTF-8, not in characters', async () => {
    const euros = Array.from({ length: 30 }, () => '€'.repeat(700));
    const { bytes, items, pagination } = await get(listOf(euros), { limit: 30 });
    expect(bytes).toBeLessThanOrEqual(48 * 1024);
    expect(bytes).toBeGreaterThan(46 * 1024);
    expect(pagination).toMatchObject({ result_count: items.length, has_more: true });
    expect(items.length).toBeLessThan(24);
  });

  it.each([Number.NaN, -1, 49_152.9])('of %d is the default one', async (byteBudget) => {
    const tool = listOf(['x'.repeat(60_000)]);
    expect((await get(tool, {}, { byteBudget })).envelope.error).toMatchObject({
      code: 'response_too_large',
      details: { budget: 49_152 },
    });
  });

  it('leaves alone what fits to the byte, and cuts what is one byte more', async () => {
    const tool = listOf(letters);
    const options = { correlationId: 'c', clock: new VirtualClock() };
    const { bytes } = await get(tool, { limit: 26 }, options);
    expect((await get(tool, { limit: 26 }, { ...options, byteBudget: bytes })).items).toHaveLength(
      26,
    );
    const cut = await get(tool, { limit: 26 }, { ...options, byteBudget: bytes - 1 });
    expect(cut.items.length).toBeLessThan(26);
    expect(cut.token).toBeDefined();
  });

  it('cuts also where only the token is too long', async () => {
    const cursor = z.union([z.string(), z.int()]);
    const tool = defineTool({
      ...base,
      paging: { ...base.paging, cursor },
      handler: () =>
        page({ items: ['a', 'b'], source: 's' }, { next: 'x'.repeat(600), after: (kept) => kept }),
    });
    const cut = await get(tool, {}, { byteBudget: 700 });
    expect(cut.items).toEqual(['a']);
    expect(cut.bytes).toBeLessThan(700);
  });

  it('cuts no more than it must', async () => {
    const options = { correlationId: 'c', clock: new VirtualClock(), byteBudget: 1000 };
    const texts = Array.from({ length: 100 }, (_, i) => `item number ${i}`);
    const { bytes, items } = await get(listOf(texts), { limit: 100 }, options);
    expect(bytes).toBeGreaterThan(1000 - 2 * (items.at(-1)?.length ?? 0) - 6);
  });

  it('never loses or repeats an item, wherever it cuts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ maxLength: 60, unit: 'grapheme' }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 15 }),
        fc.integer({ min: 600, max: 1500 }),
        async (texts, limit, byteBudget) => {
          const { seen } = await readAll(listOf(texts), { limit }, { byteBudget });
          expect(seen).toEqual(texts);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('refuses one item that is too big, and tells how to get past it', async () => {
    const texts = ['a', 'x'.repeat(2000), 'c'];
    const options = { byteBudget: 800 };
    const first = await get(listOf(texts), {}, options);
    expect(first.items).toEqual(['a']);
    const stuck = await get(listOf(texts), { page_token: first.token }, options);
    expect(stuck.envelope.error).toMatchObject({
      code: 'response_too_large',
      message: containing('Use `fields`'),
      details: { budget: 800, next_token: some(String) },
    });
    const page_token = ownMember(stuck.envelope.error?.details, 'next_token');
    expect((await get(listOf(texts), { page_token }, options)).items).toEqual(['c']);
  });

  it('offers no way past the last item', async () => {
    const { envelope } = await get(listOf(['x'.repeat(2000)]), {}, { byteBudget: 800 });
    expect(envelope.error?.code).toBe('response_too_large');
    expect(envelope.error?.details).not.toHaveProperty('next_token');
  });

  it('does not cut where the tool cannot say how to go on', async () => {
    const tool = defineTool({
      ...base,
      handler: () =>
        page({ items: ['a'.repeat(300), 'b'.repeat(300)], source: 's' }, { next: { from: 2 } }),
    });
    expect((await get(tool, {}, { byteBudget: 700 })).envelope.error?.code).toBe(
      'response_too_large',
    );
  });

  it('refuses what is no list', async () => {
    const { paging: _, ...rest } = base;
    const tool = defineTool({
      ...rest,
      input: z.object({}),
      effect: 'once',
      profiles: ['api', 'workflow'],
      handler: () => ({ items: [], source: 'x'.repeat(60_000) }),
    });
    const { envelope } = await get(tool, {});
    expect(envelope.error).toMatchObject({
      code: 'response_too_large',
      outcome: 'executed',
      message: matching(/Ask for less\.$/),
      details: { bytes: some(Number), budget: 49_152 },
    });
  });

  it('holds for failures too', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `field-${i}`);
    const issues = names.map((field) => ({ field, message: 'x'.repeat(100) }));
    const failure = {
      ok: false,
      error: { code: 'validation_error', message: 'm', details: { issues } },
      data: names,
    } as const;
    const tool = listOf(letters, { partial: z.array(z.string()) });
    const options = {
      around: () => Promise.resolve(failure),
      clock: new VirtualClock(),
      correlationId: 'c',
    };
    const whole = await get(tool, {}, options);
    expect(whole.envelope).toMatchObject({ data: names, error: { details: { issues } } });
    const less = await get(tool, {}, { ...options, byteBudget: whole.bytes - 1 });
    expect(less.envelope).toMatchObject({ data: null, error: { details: { issues } } });
    const least = await get(tool, {}, { ...options, byteBudget: less.bytes - 1 });
    expect(least.envelope).toMatchObject({ data: null, error: { code: 'validation_error' } });
    expect(least.envelope.error).not.toHaveProperty('details');
  });

  it('turns a tool that pages without declaring it into a report', async () => {
    const { paging: _, ...rest } = base;
    const onUnexpected = vi.fn();
    const handler = (() => page({ items: [], source: 's' }, { next: 1 })) as unknown as () => {
      items: [];
      source: string;
    };
    const { envelope } = await get(defineTool({ ...rest, handler }), {}, { onUnexpected });
    expect(envelope.success).toBe(true);
    expect(onUnexpected).toHaveBeenCalledOnce();
  });

  it('survives a tool whose own continuation fails', async () => {
    const tool = defineTool({
      ...base,
      handler: () =>
        page(
          { items: letters, source: 's' },
          {
            after: () => {
              throw new Error('secret');
            },
          },
        ),
    });
    expect((await get(tool, {}, { byteBudget: 300 })).envelope.error?.code).toBe('internal_error');
    const acting = { ...tool, mutation: true };
    expect((await get(acting, {}, { byteBudget: 300 })).envelope.error?.outcome).toBe('executed');
  });
});
