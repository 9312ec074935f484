import { describe, expect, test } from 'vitest';
import type { AssetBehaviour, StacSandbox } from '@toolkeel/sandbox';
import { request } from 'undici';
import { sendRequest, type Item, type Page } from './support/client.js';
import { closeSandboxesAfterEach, sandbox } from './support/sandboxes.js';

closeSandboxesAfterEach();

interface File {
  readonly href: string;
  readonly bytes: number;
  readonly declared: unknown;
}

/** The first image with a server behaviour. */
const imageOf = async (upstream: StacSandbox, behaviour: AssetBehaviour): Promise<File> => {
  const body = { collections: ['sentinel-2-l2a'], limit: 300 };
  const { json } = await sendRequest<Page>(`${upstream.url}/search`, { method: 'POST', body });
  const find = (item: Item) =>
    upstream
      .assetFacts(item.collection, item.id)
      .filter((facts) => facts.behaviour === behaviour && facts.shape)
      .map(({ bytes, template: { key } }) => ({
        bytes,
        href: String(item.assets[key]?.['href']),
        declared: item.assets[key]?.['file:size'],
      }));
  const [file] = json.features.flatMap(find);
  if (!file) throw new Error(`nothing is ${behaviour}`);
  return file;
};

describe('a file', () => {
  test('has the size that its server and its item declare', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes, declared } = await imageOf(upstream, 'normal');
    const { status, headers } = await sendRequest(href, { method: 'HEAD' });
    expect([status, headers['content-length']]).toEqual([200, String(bytes)]);
    expect(headers).toMatchObject({
      'accept-ranges': 'bytes',
      'content-type': expect.stringContaining('image/tiff'),
    });
    expect(declared).toBe(bytes);
  });

  test('supports ranges', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, 'normal');
    const part = await request(href, { headers: { range: 'bytes=100-1123' } });
    expect([part.statusCode, part.headers['content-range']]).toEqual([
      206,
      `bytes 100-1123/${bytes}`,
    ]);
    expect((await part.body.arrayBuffer()).byteLength).toBe(1024);
  });

  test('is streamed without being held in memory', async () => {
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

describe('a file whose server behaviour', () => {
  test('wrong-length', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, 'wrong-length');
    const { headers } = await sendRequest(href, { method: 'HEAD' });
    expect(Number(headers['content-length'])).toBe(Math.floor(bytes / 10));
  });

  test('is no-length has no Content-Length', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href } = await imageOf(upstream, 'no-length');
    const { status, headers } = await sendRequest(href, { method: 'HEAD' });
    expect([status, headers['content-length']]).toEqual([200, undefined]);
  });

  test.for([
    ['forbidden', 403],
    ['gone', 404],
  ] as const)('is %s gets an error page with a length of its own', async ([behaviour, status]) => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, behaviour);
    const answer = await sendRequest(href, { method: 'HEAD' });
    expect(answer.status).toBe(status);
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(100);
    expect(Number(answer.headers['content-length'])).toBeLessThan(bytes);
  });

  test('is no-head still declares the size in a range', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, 'no-head');
    expect((await sendRequest(href, { method: 'HEAD' })).status).toBe(405);
    const { headers } = await sendRequest(href, { headers: { range: 'bytes=0-0' } });
    expect(headers['content-range']).toBe(`bytes 0-0/${bytes}`);
  });

  test('is moved gets a redirect', async () => {
    const upstream = await sandbox({ scale: 0.3 });
    const { href, bytes } = await imageOf(upstream, 'moved');
    const { status, headers } = await sendRequest(href, { method: 'HEAD' });
    expect(status).toBe(302);
    const there = await sendRequest(new URL(String(headers['location']), href).href, {
      method: 'HEAD',
    });
    expect(there.headers['content-length']).toBe(String(bytes));
  });

  test('is served from another origin by some flavours', async () => {
    const upstream = await sandbox({ scale: 0.1, flavour: 'earth-search' });
    const { json } = await sendRequest<Page>(`${upstream.url}/search?limit=1`);
    const href = String(Object.values(json.features[0]?.assets ?? {})[0]?.['href']);
    expect(new URL(href).origin).toBe(new URL(upstream.assetsUrl).origin);
    expect(new URL(href).origin).not.toBe(new URL(upstream.url).origin);
    await sendRequest(href, { method: 'HEAD' });
    expect(upstream.log().map(({ host, route }) => [host, route])).toEqual([
      ['api', 'search'],
      ['assets', 'asset'],
    ]);
  });
});
