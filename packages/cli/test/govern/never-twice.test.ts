import { describe, expect, it } from 'vitest';
import { lineWith } from '../support/cap.js';
import { useShop } from '../support/shop.js';

const { shop, configure, serve, command, dir } = useShop();
const key = 'the-order-of-monday';
const order = { item: 'tea', idempotency_key: key };

describe('a server with mutations', () => {
  it('replays the result after a restart, and refuses the key for other arguments', async () => {
    configure({ profile: 'api' });
    const first = await serve();
    const made = await first.call('shop_order', order);
    expect(made).toMatchObject({ success: true, data: { id: 'e1' } });
    expect(await lineWith('once_tools_without_key', first.stderr)).toMatchObject({
      tools: ['shop_order', 'shop_letter'],
    });
    await first.close();

    const second = await serve();
    expect(await second.call('shop_order', order)).toMatchObject({
      data: { id: 'e1' },
      meta: { idempotency: { key, replayed: true } },
    });
    expect(await second.call('shop_order', { ...order, item: 'milk' })).toMatchObject({
      error: { code: 'idempotency_conflict' },
    });
    expect(shop().effects).toEqual(['order tea']);
    const listed = await command('operations', 'list', '--json');
    expect(JSON.parse(listed.out)).toMatchObject({
      operations: [
        { tool: 'shop_order', state: 'succeeded', arguments: { item: 'tea', price: 1 } },
      ],
    });
  });

  it('deduplicates by the key template of the tool or of the configuration', async () => {
    configure({ profile: 'api', journal: { keys: { shop_order: 'order:{item}' } } });
    const server = await serve();
    const refund = { payment: 'p1', card: '4111 1111' };
    await server.call('shop_refund', refund);
    const again = await server.call('shop_refund', { ...refund, words: 'please' });
    expect(again.meta.idempotency?.replayed).toBe(true);
    await server.call('shop_order', { item: 'tea', price: 1 });
    const other = await server.call('shop_order', { item: 'tea', price: 2 });
    expect(other.meta.idempotency?.replayed).toBe(true);
    expect(shop().effects).toEqual(['refund p1', 'order tea']);
  });

  it('executes a template-keyed mutation once, for any idempotency key', async () => {
    configure({ profile: 'api' });
    const server = await serve();
    const refund = { payment: 'p1', card: '4111 1111' };
    const keys = [undefined, 'the-refund-of-monday', 'the-refund-of-tuesday'];
    for (const idempotency_key of keys) {
      const asked = { ...refund, ...(idempotency_key && { idempotency_key }) };
      expect(await server.call('shop_refund', asked)).toMatchObject({ data: { id: 'e1' } });
    }
    expect(shop().effects).toEqual(['refund p1']);
  });

  it('releases the dedup key after the inverse', async () => {
    configure({ profile: 'api' });
    const server = await serve();
    for (const tool of ['shop_like', 'shop_like', 'shop_unlike', 'shop_like']) {
      expect(await server.call(tool, { item: 'tea' })).toMatchObject({ success: true });
    }
    expect(shop().effects).toEqual(['like tea', 'unlike tea', 'like tea']);
  });

  it('waits for the same operation in another process, else returns idempotency_in_flight', async () => {
    configure({ profile: 'api', toolTimeoutSecs: 4 });
    const [first, second] = await Promise.all([serve(), serve()]);
    shop().next('hang');
    const running = first.call('shop_order', order);
    await expect.poll(() => shop().hanging(), { timeout: 30_000 }).toBe(1);
    const meanwhile = second.call('shop_order', order);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    shop().release();
    expect(await running).toMatchObject({ data: { id: 'e1' } });
    expect(await meanwhile).toMatchObject({
      data: { id: 'e1' },
      meta: { idempotency: { replayed: true } },
    });
    shop().next('hang');
    const other = { ...order, idempotency_key: 'the-order-of-tuesday' };
    const slow = first.call('shop_order', other);
    await expect.poll(() => shop().hanging(), { timeout: 30_000 }).toBe(1);
    const waited = await second.call('shop_order', other);
    expect(waited).toMatchObject({
      error: {
        code: 'idempotency_in_flight',
        retryable: true,
        operation_id: expect.stringMatching(/^op_/),
      },
    });
    shop().release();
    await slow;
    expect(shop().effects).toHaveLength(2);
  });

  it('resumes a multi-step operation in another process', async () => {
    configure({ profile: 'api' });
    const letter = { pages: ['one', 'two', 'three'] };
    const first = await serve();
    shop().next('commit and break');
    const broken = await first.call('shop_letter', letter);
    expect(broken.success).toBe(true); // the read-back finds the first page
    const other = { pages: ['four', 'five'] };
    shop().next('answer', 'break');
    expect((await first.call('shop_letter', other)).success).toBe(false);
    await first.close();
    const second = await serve();
    expect(await second.call('shop_letter', other)).toMatchObject({ success: true });
    const pages = ['page one', 'page two', 'page three', 'page four', 'page five'];
    expect(shop().effects).toEqual(pages);
  });

  it('reports outcome_unknown until an operator resolves the operation', async () => {
    configure({ profile: 'api' });
    const server = await serve();
    shop().next('commit and break');
    const { error } = await server.call('shop_order', order);
    expect(error).toMatchObject({ code: 'outcome_unknown', outcome: 'unknown' });
    expect((await server.call('shop_order', order)).error?.code).toBe('outcome_unknown');
    const id = error?.operation_id ?? '';
    expect(await lineWith('operation_unknown', server.stderr)).toMatchObject({ operation_id: id });
    const resolved = await command(
      'operations',
      'resolve',
      id,
      '--outcome',
      'executed',
      '--by',
      'ana',
      '--data',
      '{"id":"e1"}',
      '--reason',
      'seen in the shop',
    );
    expect(resolved).toMatchObject({ code: 0, err: '' });
    expect(await lineWith('operation_reconciled', server.stderr)).toMatchObject({
      operation_id: id,
      result: 'executed',
      by: 'ana',
      elsewhere: true,
    });
    expect(await server.call('shop_order', order)).toMatchObject({ data: { id: 'e1' } });
    expect(shop().effects).toEqual(['order tea']);
    const shown = await command('operations', 'show', id);
    expect(shown.out).toMatch(/state +reconciled/);
    expect((await command('operations', 'resolve', id, '--outcome', 'executed')).code).toBe(1);
    expect((await command('operations', 'show', 'op_none')).code).toBe(2);
    const short = await command('operations', 'show', id.slice(0, 11), '--json');
    expect(JSON.parse(short.out)).toMatchObject({ id });
    await server.call('shop_order', { item: 'jam' });
    const page = await command('operations', 'list', '--limit', '1', '--json');
    const [newest] = (JSON.parse(page.out) as { operations: { id: string }[] }).operations;
    const next = await command('operations', 'list', '--before', newest?.id ?? '', '--json');
    expect(JSON.parse(next.out)).toMatchObject({ operations: [{ id }] });
  });
});

describe('configured rules', () => {
  it('deny, dry-run and limit across processes', async () => {
    configure({
      profile: 'api',
      rules: [
        {
          name: 'no gin',
          when: { tool: 'shop_order', 'args.item': { equals: 'gin' } },
          action: 'deny',
        },
        {
          name: 'dear',
          when: { cost: { gt: 100, unit: 'EUR' }, tool: 'shop_order' },
          action: 'dry_run',
        },
      ],
      limits: { orders: { when: { tool: 'shop_order' }, perHour: 2 } },
    });
    const [first, second] = await Promise.all([serve(), serve()]);
    expect(await first.call('shop_order', { item: 'gin' })).toMatchObject({
      error: {
        code: 'policy_denied_user_rule',
        outcome: 'not_executed',
        details: { rule: 'no gin' },
      },
    });
    expect(await first.call('shop_order', { item: 'ring', price: 500 })).toMatchObject({
      error: { code: 'dry_run', details: { would_send: { arguments: { item: 'ring' } } } },
    });
    expect(shop().effects).toEqual([]);
    await first.call('shop_order', { item: 'tea' });
    await second.call('shop_order', { item: 'milk' });
    expect(await first.call('shop_order', { item: 'jam' })).toMatchObject({
      error: { code: 'policy_denied_rate_limited', retry_after_ms: expect.any(Number) },
    });
    expect(shop().effects).toEqual(['order tea', 'order milk']);
    const asked = { tool: 'shop_order', arguments: { item: 'gin' } };
    expect(await second.call('get_policy_status', asked)).toMatchObject({
      data: { decision: 'deny', rule: 'no gin' },
    });
  });

  it('are refused at startup if they are invalid', async () => {
    const rule = { name: 'ask', when: { tool: 'shop_ordr' }, action: 'require_approval' };
    configure({ profile: 'api', rules: [rule] });
    const { code, err } = await command('serve');
    expect(code).toBe(2);
    expect(err).toContain(`${dir()}/toolkeel.config.json: /rules/0/when/tool`);
    expect(err).toContain('Did you mean "shop_order"?');
    expect(err).toMatch(/\/rules\/0\/action: .*workflow/);
    expect((await command('doctor')).code).toBe(1);
  });
});
