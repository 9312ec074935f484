import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useShop } from '../support/shop.js';

const { data, dir, shop, configure, serve, command } = useShop();

describe('the audit', () => {
  it('is verified and exported, and detects altered rows', async () => {
    configure({ profile: 'api', limits: { all: { perDay: 2 } } });
    const server = await serve();
    for (const item of ['tea', 'jam', 'gin']) await server.call('shop_order', { item });
    await server.close();
    const head = (await command('audit', 'head')).out.trim();
    expect(head).toMatch(/^\d+:[0-9a-f]{64}$/);
    const verified = await command('audit', 'verify', '--expect', head);
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('all valid') });

    const lines = (await command('audit', 'export')).out.trim().split('\n');
    const kinds = lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds.filter((kind) => kind === 'send')).toHaveLength(2);
    const csv = (await command('audit', 'export', '--format', 'csv', '--since', '1h')).out;
    expect(csv.trim().split('\r\n')).toHaveLength(lines.length + 1);
    expect((await command('audit', 'export', '--until', '1h')).out).toBe('');

    const file = data('journal.db');
    const altered = readFileSync(file, 'latin1').replaceAll('shop_order', 'shop_0rder');
    writeFileSync(file, altered, 'latin1');
    const found = await command('audit', 'verify', '--json');
    expect(found.code).toBe(1);
    expect(JSON.parse(found.out)).toMatchObject({ ok: false, problems: expect.anything() });
    expect(found.out).toContain('"altered"');
  });

  it('names the rule that allowed a send, and records a denied read', async () => {
    const rules = [
      { name: 'no-stock', when: { tool: 'shop_stock', effect: 'read' }, action: 'deny' },
      { name: 'tea-is-fine', when: { 'args.item': { equals: 'tea' } }, action: 'allow' },
    ];
    configure({ profile: 'api', rules });
    const server = await serve();
    const denied = await server.call('shop_stock', {});
    expect(denied.error?.code).toBe('policy_denied_user_rule');
    for (const item of ['tea', 'jam']) await server.call('shop_order', { item });
    await server.close();
    const lines = (await command('audit', 'export')).out.trim().split('\n');
    const rows = lines.map((line) => {
      const row = JSON.parse(line) as Readonly<Record<'kind' | 'tool' | 'detail', string>>;
      return { ...row, detail: JSON.parse(row.detail) as object };
    });
    const of = (wanted: string) => rows.filter(({ kind }) => kind === wanted);
    expect(of('denied')).toMatchObject([
      {
        tool: 'shop_stock',
        detail: {
          rule: 'no-stock',
          code: 'policy_denied_user_rule',
          correlationId: denied.meta.correlation_id,
        },
      },
    ]);
    expect(of('send')).toMatchObject([
      { detail: { rule: 'tea-is-fine' } },
      { detail: { rule: 'template:open' } },
    ]);
  });

  it('detects truncation with a head that was stored elsewhere', async () => {
    configure({ profile: 'api' });
    const server = await serve();
    await server.call('shop_order', { item: 'tea' });
    await server.close();
    const [seq] = (await command('audit', 'head')).out.split(':');
    const later = `${Number(seq) + 3}:${'a'.repeat(64)}`;
    const { code, out } = await command('audit', 'verify', '--expect', later);
    expect(code).toBe(1);
    expect(out).toMatch(/^cut_off: /m);
  });
});

describe('the configured webhook and command', () => {
  it('receive notifications of pending approvals without arguments', async () => {
    const received: { readonly body: string; readonly authorization: string | undefined }[] = [];
    const hook = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        received.push({ body, authorization: request.headers.authorization });
        // The first delivery fails.
        response.writeHead(received.length === 1 ? 503 : 200).end();
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const { port } = hook.address() as AddressInfo;
    const log = join(dir(), 'received.jsonl');
    writeFileSync(join(dir(), 'hook.token'), 'a-token-for-the-hook', { mode: 0o600 });
    configure({
      profile: 'workflow',
      notify: {
        webhook: { url: `http://127.0.0.1:${port}/`, token: { file: join(dir(), 'hook.token') } },
        command: [
          process.execPath,
          '-e',
          `process.stdin.pipe(require('fs').createWriteStream(${JSON.stringify(log)},{flags:'a'}))`,
        ],
      },
    });
    const server = await serve();
    const { error } = await server.call('shop_refund', { payment: 'p1', card: '4111-1111-2222' });
    await expect.poll(() => received.length, { timeout: 30_000 }).toBe(2);
    const message = JSON.parse(received[1]?.body ?? '') as object;
    expect(message).toMatchObject({
      kind: 'approval_requested',
      operation_id: error?.operation_id,
      tool: 'shop_refund',
      audit_head: { seq: expect.any(Number) },
    });
    expect(received[1]?.authorization).toBe('Bearer a-token-for-the-hook');
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([message]);
    expect(JSON.stringify(received) + lines.join('')).not.toMatch(/4111|"p1"/);
    expect(server.stderr()).not.toContain('a-token-for-the-hook');
    expect(shop().effects).toEqual([]);
    hook.closeAllConnections();
    await new Promise((resolve) => hook.close(resolve));
  });
});
