import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lineWith } from '../support/cap.js';
import { useShop } from '../support/shop.js';

const { data, shop, configure, serve, command, process: start } = useShop();
const order = (item: string) => ({ item, idempotency_key: `the-order-of-${item}-1` });

describe('a journal that cannot be opened', () => {
  it('stops a server with mutations, with a message', async () => {
    configure({ profile: 'api' });
    writeFileSync(data('.'), 'a file in place of the directory');
    for (const args of [['serve'], ['up', '--port', '0']]) {
      const { ended, err } = start(args);
      expect((await ended).code).toBe(1);
      expect(err()).toMatch(/^toolkeel: .*data/m);
      expect(err()).not.toMatch(/^\s+at /m);
    }
    expect((await command('doctor')).code).toBe(1);
  });

  it('is only a warning without mutations', async () => {
    configure({ profile: 'readonly' });
    writeFileSync(data('.'), 'a file in place of the directory');
    const server = await serve();
    expect(await server.call('shop_stock')).toMatchObject({ success: true });
    expect(await lineWith('journal_not_open', server.stderr)).toMatchObject({ level: 'warn' });
    expect(await server.call('shop_stock')).toMatchObject({ success: true });
    expect(await server.tools()).not.toContain('get_operation');
  });
});

const damages: [string, () => void][] = [
  [
    'was removed',
    () => {
      for (const name of readdirSync(data(''))) {
        if (name.startsWith('journal.db')) rmSync(data(name));
      }
    },
  ],
  [
    'was overwritten',
    () => {
      for (const name of readdirSync(data(''))) {
        if (!name.startsWith('journal.db')) continue;
        truncateSync(data(name), 0);
        writeFileSync(data(name), 'x'.repeat(100_000));
      }
    },
  ],
];

describe('a journal of a running server', () => {
  it.each(damages)('that %s: mutations are refused, reads continue', async (_, damage) => {
    configure({ profile: 'api' });
    const server = await serve();
    expect(await server.call('shop_order', order('tea'))).toMatchObject({ success: true });
    damage();
    const refused = await server.call('shop_order', order('jam'));
    expect(refused).toMatchObject({ error: { code: 'db_error', outcome: 'not_executed' } });
    expect(shop().effects).toEqual(['order tea']);
    expect(await server.call('shop_stock')).toMatchObject({ success: true });
  });

  it('on a full disk: mutations are refused, reads continue', async () => {
    configure({ profile: 'api' });
    // A file size limit simulates a full disk.
    const script = `trap '' XFSZ; ulimit -f 400; exec "$0" "$@"`;
    const server = await serve(['sh', '-c', script]);
    expect(await server.call('shop_order', order('tea'))).toMatchObject({ success: true });
    const filler = 'x'.repeat(40_000);
    let answer = await server.call('shop_order', order('jam'));
    for (let n = 0; n < 30 && answer.success; n += 1) {
      const more = { item: `${n} ${filler}`, idempotency_key: `the-filler-number-${n}` };
      answer = await server.call('shop_order', more);
    }
    const sent = shop().effects.length;
    expect(answer).toMatchObject({ error: { code: 'db_error', outcome: 'not_executed' } });
    const again = { item: filler, idempotency_key: 'the-last-filler-of-all' };
    expect((await server.call('shop_order', again)).error?.code).toBe('db_error');
    expect(shop().effects).toHaveLength(sent);
    expect(await server.call('shop_stock')).toMatchObject({ success: true });
  });
});

it('a journal without its key is refused', async () => {
  configure({ profile: 'api' });
  const server = await serve();
  await server.call('shop_order', order('tea'));
  await server.close();
  rmSync(data('journal.key'));
  const { code, err } = await command('operations', 'list');
  expect(code).toBe(1);
  expect(err).toContain('journal.key is missing');
  const { ended, err: stderr } = start(['serve']);
  expect((await ended).code).toBe(1);
  expect(stderr()).toContain('journal.key is missing');
  // Verifying the audit does not require the key.
  expect((await command('audit', 'verify')).code).toBe(0);
});
