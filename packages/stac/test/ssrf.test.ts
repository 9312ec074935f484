import { describe, expect, it } from 'vitest';
import { api, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';

const { setup, serve, createRig } = useHarness();

/** Loopback addresses as stand-ins: 127.0.0.2 is public, 127.0.0.1 is private. */
const isAllowed = (address: string) => address === '127.0.0.2';
const names: Record<string, string[]> = {
  'public.example': ['127.0.0.2'],
  'private.example': ['127.0.0.1'],
  'mixed.example': ['127.0.0.2', '127.0.0.1'],
};
const resolve = async (name: string) =>
  (names[name] ?? []).map((address) => ({ address, family: 4 }));

describe('a URL from an argument', () => {
  it.each([
    'http://127.0.0.1:80/',
    'http://localhost/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest',
    'http://10.1.2.3/',
    'http://0.0.0.0/',
    'https://user:password@stac.example/',
  ])('%s is forbidden', async (catalog_url) => {
    const { rig, server } = await setup(api());
    expect(await rig.code('get_root', { catalog_url })).toBe('forbidden');
    expect(await rig.code('search_federated', { catalogs: [catalog_url] })).toBe('forbidden');
    expect(server.requests).toEqual([]);
  });

  it.each(['file:///etc/passwd', 'ftp://a.example/', 'x'])(
    '%s is rejected by the schema',
    async (catalog_url) => {
      const { rig } = await setup(api());
      expect(await rig.code('get_root', { catalog_url })).toBe('validation_error');
    },
  );

  it('is forbidden if its name resolves to a private address', async () => {
    const { rig } = await setup(api());
    const asked: string[] = [];
    const resolver = async (name: string) => {
      asked.push(name);
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const own = await createRig(
      { catalogs: { a: { url: 'http://127.0.0.1:9/' } } },
      { resolve: resolver },
    );
    expect(await own.code('get_root', { catalog_url: 'http://rebound.example/' })).toBe(
      'forbidden',
    );
    expect(asked).toEqual(['rebound.example']);
    expect(
      await rig.code('get_root', { catalog_url: 'http://localhost.localdomain.localhost/' }),
    ).toBe('forbidden');
  });

  it('is allowed if its name resolves to public addresses', async () => {
    const server = await serve(api(), '127.0.0.2');
    const { port } = new URL(server.origin);
    const rig = await createRig(
      { catalogs: { a: { url: 'http://127.0.0.1:9/' } } },
      { resolve, isAllowed },
    );
    const data = await rig.data('get_root', { catalog_url: `http://public.example:${port}/` });
    expect(data['id']).toBe('test');
    expect(await rig.code('get_root', { catalog_url: `http://private.example:${port}/` })).toBe(
      'forbidden',
    );
    expect(await rig.code('get_root', { catalog_url: `http://mixed.example:${port}/` })).toBe(
      'forbidden',
    );
  });

  it('is forbidden if it redirects to a private address or name', async () => {
    const inside = await serve(api());
    const { port } = new URL(inside.origin);
    for (const location of [
      inside.origin,
      `http://private.example:${port}/`,
      'file:///etc/passwd',
      'http://[::1]/',
    ]) {
      const server = await serve(() => ({ status: 302, headers: { location } }), '127.0.0.2');
      const rig = await createRig(
        { catalogs: { a: { url: 'http://127.0.0.1:9/' } } },
        { resolve, isAllowed },
      );
      const code = await rig.code('get_root', { catalog_url: server.origin });
      expect({ location, code }).toEqual({ location, code: 'forbidden' });
    }
    expect(inside.requests).toEqual([]);
  });

  it('cannot reach a configured catalogue through links', async () => {
    const configured = await serve(api());
    const server = await serve(
      ({ origin }) => ({
        json: {
          conformsTo: ['x'],
          links: [
            { rel: 'search', href: `${configured.origin}/search` },
            { rel: 'self', href: origin },
          ],
        },
      }),
      '127.0.0.2',
    );
    const rig = await createRig(
      { catalogs: { a: { url: configured.origin } } },
      { resolve, isAllowed },
    );
    expect(await rig.code('search_items', { catalog_url: server.origin })).toBe('forbidden');
    expect(configured.requests).toEqual([]);
  });

  it('selects a configured catalogue with the same URL', async () => {
    const { rig, server } = await setup(api());
    expect(await rig.data('get_root', { catalog_url: `${server.origin}/` })).toMatchObject({
      catalog: 'test',
    });
  });

  it('can be disabled', async () => {
    const { rig } = await setup(api(), { allowCatalogUrl: false });
    expect(await rig.code('get_root', { catalog_url: 'https://stac.example/' })).toBe('forbidden');
  });
});

describe('asset files', () => {
  it('at private addresses are not requested, except those of the catalogue itself', async () => {
    const other = await serve(() => ({ headers: { 'content-length': '5' } }));
    const assets = (origin: string) => ({
      own: { href: `${origin}/own` },
      inside: { href: `${other.origin}/secret` },
      metadata: { href: 'http://169.254.169.254/latest' },
      disk: { href: 'file:///etc/passwd' },
    });
    const { rig } = await setup(
      api({
        before: ({ path, origin, method }) => {
          if (path === '/search') return page([item('a', { assets: assets(origin) })]);
          return method === 'HEAD' ? { headers: { 'content-length': '11' } } : undefined;
        },
      }),
    );
    expect(await rig.data('estimate_data_size')).toMatchObject({
      estimated_size_bytes: 11,
      coverage: { head: { assets: 1 }, unknown: { assets: 3 } },
    });
    expect(other.requests).toEqual([]);
  });

  it('are requested from trusted origins', async () => {
    const store = await serve(() => ({ headers: { 'content-length': '5' } }));
    const server = await serve(
      api({
        before: ({ path }) =>
          path === '/search'
            ? page([item('a', { assets: { x: { href: `${store.origin}/x` } } })])
            : undefined,
      }),
    );
    const secret = { Authorization: 'Bearer hidden-token' };
    const rig = await createRig({
      catalogs: { a: { url: server.origin, headers: secret, trustedOrigins: [store.origin] } },
    });
    expect(await rig.data('estimate_data_size')).toMatchObject({ estimated_size_bytes: 5 });
    expect(store.requests).toHaveLength(1);
    expect(store.requests[0]?.headers.authorization).toBeUndefined();
    expect(
      server.requests.every(({ headers }) => headers.authorization === 'Bearer hidden-token'),
    ).toBe(true);
  });
});
