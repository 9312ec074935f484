import { describe, expect, test } from 'vitest';
import type { AssetBehaviour, StacSandbox } from '@toolkeel/sandbox';
import { request } from 'undici';
import { ask, type Item, type Page } from './support/client.js';
import { closeSandboxesAfterEach, sandbox } from './support/sandboxes.js';

closeSandboxesAfterEach();

interface File {
  readonly href: string;
  readonly bytes: number;
  readonly told: unknown;
}

/** One image of each manner that the server has. */
const imageOf = async (upstream: StacSandbox, manner: AssetBehaviour): Promise<File> => {
  const body = { collections: ['sentinel-2-l2a'], limit: 300 };
  const { json } = await ask<Page>(`${upstream.url}/search`, { method: 'POST', body });
  const find = (item: Item) =>
    upstream
      .assetFacts(item.collection, item.id)
      .filter((facts) => facts.behaviour === manner && facts.shape)
      .map(({ bytes, template: { key } }) => ({
        bytes,
        href: String(item.assets[key]?.['href']),
        told: item.assets[key]?.['file:size'],
      }));
  const [file] = json.features.flatMap(find);
  if (!file) throw new Error(`nothing is ${manner}`);
  return file;
};

describe('a file', () => {
  test('is as long as its server and its item say', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes, told } = await imageOf(upstream, 'normal');
    const { status, headers } = await ask(href, { method: 'HEAD' });
    expect([status, headers['content-length']]).toEqual([200, String(bytes)]);
    expect(headers).toMatchObject({
      'accept-ranges': 'bytes',
      'content-type': expect.stringContaining('image/tiff'),
    });
    expect(told).toBe(bytes);
  });

  test('can be read in part', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, 'normal');
    const part = await request(href, { headers: { range: 'bytes=100-1123' } });
    expect([part.statusCode, part.headers['content-range']]).toEqual([
      206,
      `bytes 100-1123/${bytes}`,
    ]);
    expect((await part.body.arrayBuffer()).byteLength).toBe(1024);
  });

  test('can be read as a whole without being held in memory', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, 'normal');
    const whole = await request(href);
    expect(whole.headers['content-length']).toBe(String(bytes));
    let read = 0;
    for await (const chunk of whole.body as AsyncIterable<Buffer>) {
      read += chunk.length;
      if (read > 8_000_000) break;
    }
    expect(read).toBeGreaterThan(8_000_000);
    await expect.poll(() => upstream.log().at(-1)?.outcome).toBe('client-left');
  });
});

describe('a file whose server', () => {
  test('wrong-length', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, 'wrong-length');
    const { headers } = await ask(href, { method: 'HEAD' });
    expect(Number(headers['content-length'])).toBe(Math.floor(bytes / 10));
  });

  test('tells no length', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href } = await imageOf(upstream, 'no-length');
    const { status, headers } = await ask(href, { method: 'HEAD' });
    expect([status, headers['content-length']]).toEqual([200, undefined]);
  });

  test.for([
    ['forbidden', 403],
    ['gone', 404],
  ] as const)('answers %s with a page that has a length of its own', async ([manner, status]) => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, manner);
    const answer = await ask(href, { method: 'HEAD' });
    expect(answer.status).toBe(status);
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(100);
    expect(Number(answer.headers['content-length'])).toBeLessThan(bytes);
  });

  test('does not know HEAD still tells the whole in a range', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, 'no-head');
    expect((await ask(href, { method: 'HEAD' })).status).toBe(405);
    const { headers } = await ask(href, { headers: { range: 'bytes=0-0' } });
    expect(headers['content-range']).toBe(`bytes 0-0/${bytes}`);
  });

  test('has moved it', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, 'moved');
    const { status, headers } = await ask(href, { method: 'HEAD' });
    expect(status).toBe(302);
    const there = await ask(new URL(String(headers['location']), href).href, { method: 'HEAD' });
    expect(there.headers['content-length']).toBe(String(bytes));
  });

  test('is another one, as with real catalogues', async () => {
    const upstream = await sandbox({ scale: 0.1, flavour: 'earth-search' });
    const { json } = await ask<Page>(`${upstream.url}/search?limit=1`);
    const href = String(Object.values(json.features[0]?.assets ?? {})[0]?.['href']);
    expect(new URL(href).origin).toBe(new URL(upstream.assetsUrl).origin);
    expect(new URL(href).origin).not.toBe(new URL(upstream.url).origin);
    await ask(href, { method: 'HEAD' });
    expect(upstream.log().map(({ host, route }) => [host, route])).toEqual([
      ['api', 'search'],
      ['assets', 'asset'],
    ]);
  });
});
