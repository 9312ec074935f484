import { describe, expect, test } from 'vitest';
import { sendRequest, type Link } from './support/client.js';
import { closeSandboxesAfterEach, sandbox, tiny } from './support/sandboxes.js';
import { checkerOf } from './support/schemas.js';

closeSandboxesAfterEach();

interface Document {
  readonly type: 'Catalog' | 'Collection' | 'Feature';
  readonly id: string;
  readonly links: readonly Link[];
  readonly conformsTo?: unknown;
}

describe('the static catalogue', () => {
  test('is crawled from its root to its items by relative links', async () => {
    const { staticUrl } = await sandbox();
    const check = checkerOf();
    const found = new Map<string, Document>();
    const walk = async (url: string): Promise<void> => {
      const { status, json } = await sendRequest<Document>(url);
      expect([url, status]).toEqual([url, 200]);
      expect(json.conformsTo).toBeUndefined();
      found.set(url, json);
      for (const { rel, href } of json.links) {
        expect(href).not.toMatch(/^https?:/);
        const target = new URL(href, url).href;
        if (rel === 'child' || rel === 'item') await walk(target);
        if (rel === 'root') expect(target).toBe(staticUrl);
        if (rel === 'parent') expect(found.has(target)).toBe(true);
      }
    };
    await walk(staticUrl);
    const all = [...found.values()];
    const types = all.map(({ type }) => type);
    expect(types.filter((type) => type === 'Catalog')).toHaveLength(2);
    expect(types.filter((type) => type === 'Collection')).toHaveLength(3);
    expect(types.filter((type) => type === 'Feature')).toHaveLength(80);
    for (const document of all) {
      if (document.type === 'Catalog') expect(check('catalog', document)).toEqual([]);
      if (document.type === 'Collection') expect(check('collection', document)).toEqual([]);
    }
  });

  test('has no API', async () => {
    const { staticUrl } = await tiny();
    for (const path of ['search', 'collections', 'conformance'])
      expect((await sendRequest(new URL(path, staticUrl).href)).status).toBe(404);
  });
});

describe('the hostile catalogue', () => {
  test('has cycles, dead links, depth, breadth and forbidden targets', async () => {
    const { hostileUrl } = await tiny();
    const { json } = await sendRequest<Document>(hostileUrl);
    const targets = json.links.map(({ href }) => new URL(href, hostileUrl).href);
    expect(targets[0]).toBe(hostileUrl);
    expect((await sendRequest(targets[1] ?? '')).status).toBe(404);
    let deep = targets[2] ?? '';
    for (let level = 0; level < 30; level += 1) {
      const next = await sendRequest<Document>(deep);
      deep = new URL(next.json.links[0]?.href ?? '', deep).href;
    }
    expect(deep).toContain('/deep/31/');
    expect((await sendRequest<Document>(targets[3] ?? '')).json.links).toHaveLength(5000);
    expect(targets[4]).toContain('169.254.169.254');
    expect(targets[5]).toMatch(/^file:/);
  });
});
