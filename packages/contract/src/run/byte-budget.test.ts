import { VirtualClock } from '@toolkeel/kernel/testing';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { containing, matching, some } from '../matchers.fixture.js';
import { ownMember } from '../json.js';
import { defineTool } from '../tool/define.js';
import { page } from '../tool/result.js';
import { base, get, letters, listOf, readAll } from './paging.fixture.js';

describe('the byte budget', () => {
  it('is 48 KiB in UTF-8, not in characters', async () => {
    const euros = Array.from({ length: 30 }, () => '€'.repeat(700));
    const { bytes, items, pagination } = await get(listOf(euros), { limit: 30 });
    expect(bytes).toBeLessThanOrEqual(48 * 1024);
    expect(bytes).toBeGreaterThan(46 * 1024);
    expect(pagination).toMatchObject({ result_count: items.length, has_more: true });
    expect(items.length).toBeLessThan(24);
  });

  it.each([Number.NaN, -1, 49_152.9])('of %d is replaced by the default', async (byteBudget) => {
    const tool = listOf(['x'.repeat(60_000)]);
    expect((await get(tool, {}, { byteBudget })).envelope.error).toMatchObject({
      code: 'response_too_large',
      details: { budget: 49_152 },
    });
  });

  it('keeps a result that fits exactly, and cuts one byte more', async () => {
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

  it('warns that a list was cut, with the next step', async () => {
    const texts = Array.from({ length: 100 }, (_, i) => `item number ${i}`);
    const { pagination, items } = await get(listOf(texts), { limit: 100 }, { byteBudget: 1200 });
    expect(pagination).toMatchObject({ has_more: true });
    expect(pagination?.has_more && pagination.warning).toMatch(
      new RegExp(
        `^Cut after ${items.length} of 100 items: a result has at most 1200 bytes\\. Pass next_token as \`\\w+\` to continue\\.`,
      ),
    );
    const whole = await get(listOf(texts), { limit: 5 }, { byteBudget: 1200 });
    expect(whole.pagination).not.toHaveProperty('warning');
  });

  it('cuts if only the token exceeds it', async () => {
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

  it('never loses or repeats an item', async () => {
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

  it('rejects a single item that is too large, with a token that skips it', async () => {
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

  it('has no token after the last item', async () => {
    const { envelope } = await get(listOf(['x'.repeat(2000)]), {}, { byteBudget: 800 });
    expect(envelope.error?.code).toBe('response_too_large');
    expect(envelope.error?.details).not.toHaveProperty('next_token');
  });

  it('does not cut without after', async () => {
    const tool = defineTool({
      ...base,
      handler: () =>
        page({ items: ['a'.repeat(300), 'b'.repeat(300)], source: 's' }, { next: { from: 2 } }),
    });
    expect((await get(tool, {}, { byteBudget: 700 })).envelope.error?.code).toBe(
      'response_too_large',
    );
  });

  it('rejects large data that is not a list', async () => {
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

  it('applies to failures too', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `field-${i}`);
    const issues = names.map((field) => ({ field, message: 'x'.repeat(100) }));
    const failure = {
      ok: false,
      error: { code: 'validation_error', message: 'm', details: { issues } },
      data: names,
    } as const;
    const tool = listOf(letters, { partial: z.array(z.string()) });
    const options = {
      middleware: () => Promise.resolve(failure),
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

  it('reports a tool that returns pages without declaring paging', async () => {
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

  it('handles a continuation that throws', async () => {
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
