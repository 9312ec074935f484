import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { matching, some } from '../matchers.fixture.js';
import { createPageTokens } from '../page-tokens.js';
import { defineTool } from '../tool/define.js';
import { page } from '../tool/result.js';
import { runTool } from './run-tool.js';
import { base, get, letters, listOf } from './paging.fixture.js';

describe('paging', () => {
  it('reports the count and whether there is more', async () => {
    const first = await get(listOf(letters), { limit: 20 });
    expect(first.pagination).toEqual({ next_token: first.token, result_count: 20, has_more: true });
    const second = await get(listOf(letters), { limit: 20, page_token: first.token });
    expect(second.pagination).toEqual({ result_count: 6, has_more: false });
    expect([...first.items, ...second.items]).toEqual(letters);
  });

  it('continues after a restart with the same key', async () => {
    const { token } = await get(listOf(letters), {});
    const restarted = createPageTokens({ keys: [new Uint8Array(32).fill(7)] });
    expect(
      (await get(listOf(letters), { page_token: token }, { tokens: restarted })).items[0],
    ).toBe('k');
  });

  it('works without a key until the process ends', async () => {
    const tool = listOf(letters);
    const { envelope } = await runTool(tool, {});
    const again = await runTool(tool, { page_token: envelope.meta.pagination?.next_token });
    expect(again.envelope.data).toMatchObject({ items: letters.slice(10, 20) });
  });

  it('allows unbound arguments to change', async () => {
    const { token } = await get(listOf(letters), { limit: 2 });
    expect((await get(listOf(letters), { limit: 3, page_token: token })).items).toEqual([
      'c',
      'd',
      'e',
    ]);
  });

  it('treats a default like its value', async () => {
    const { token } = await get(listOf(letters), {});
    expect((await get(listOf(letters), { q: '', page_token: token })).items[0]).toBe('k');
  });

  it('is included although the handler returns plain data', async () => {
    const tool = defineTool({ ...base, handler: () => ({ items: ['a'], source: 's' }) });
    expect((await get(tool, {})).pagination).toEqual({ result_count: 1, has_more: false });
  });

  it('works if data is the list', async () => {
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

describe('a bound argument', () => {
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

  it('may be transformed to a non-JSON value', async () => {
    const first = await get(tool, { since: '2020-01-01' });
    expect(first.items).toEqual(['2020']);
    const page_token = first.token;
    expect((await get(tool, { since: '2020-01-01', page_token })).items).toEqual(['2020']);
  });

  it('is still bound after a transform', async () => {
    const { token: page_token } = await get(tool, { since: '2020-01-01' });
    for (const since of ['2021-01-01', undefined]) {
      const { envelope } = await get(tool, { since, page_token });
      expect(envelope.error).toMatchObject({ details: { reason: 'signature' } });
    }
  });

  it('as sent differs from the transformed one', async () => {
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

  it('with a lone surrogate is a validation error', async () => {
    const { envelope } = await get(listOf(letters), { q: '\uDC00' });
    expect(envelope.error).toMatchObject({
      code: 'validation_error',
      details: { issues: [{ field: 'q', message: some(String) }] },
    });
  });
});

describe('a token that is not accepted', () => {
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

  it('of another tool or account is rejected', async () => {
    const { token } = await get(listOf(letters), {});
    for (const more of [{ name: 'search_other' }, { account: 'other' }]) {
      const { envelope } = await get(listOf(letters, more), { page_token: token });
      expect(envelope.error).toMatchObject({ details: { reason: 'signature' } });
    }
  });

  it('with an outdated cursor is rejected', async () => {
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
