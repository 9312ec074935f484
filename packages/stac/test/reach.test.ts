import { describe, expect, it } from 'vitest';
import { api, item, page } from './support/api.js';
import { useWorld } from './support/world.js';

const { world, serve, rigFor } = useWorld();

/** Loopback stands in for the internet: .2 is public, .1 is private. */
const isAllowed = (address: string) => address === '127.0.0.2';
const names: Record<string, string[]> = {
  'public.example': ['127.0.0.2'],
  'private.example': ['127.0.0.1'],
  'mixed.example': ['127.0.0.2', '127.0.0.1'],
};
const resolve = async (name: string) =>
  (names[name] ?? []).map((address) => ({ address, family: 4 }));

describe('an address from an argument', () => {
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
    const { rig, server } = await world(api());
    expect(await rig.code('get_root', { catalog_url })).toBe('forbidden');
    expect(await rig.code('search_federated', { catalogs: [catalog_url] })).toBe('forbidden');
    expect(server.seen).toEqual([]);
  });

  it.each(['file:///etc/passwd', 'ftp://a.example/', 'x'])(
    '%s is refused by the schema',
    async (catalog_url) => {
      const { rig } = await world(api());
      expect(await rig.code('get_root', { catalog_url })).toBe('validation_error');
    },
  );

  it('is forbidden when its name leads inside', async () => {
    const { rig } = await world(api());
    const asked: string[] = [];
    const resolver = async (name: string) => {
      asked.push(name);
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const own = await rigFor(
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

  it('is reached when its name leads outside', async () => {
    const server = await serve(api(), '127.0.0.2');
    const { port } = new URL(server.origin);
    const rig = await rigFor(
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

  it('is forbidden when it redirects inside, by address or by name', async () => {
    const inside = await serve(api());
    const { port } = new URL(inside.origin);
    for (const location of [
      inside.origin,
      `http://private.example:${port}/`,
      'file:///etc/passwd',
      'http://[::1]/',
    ]) {
      const server = await serve(() => ({ status: 302, headers: { location } }), '127.0.0.2');
      const rig = await rigFor(
        { catalogs: { a: { url: 'http://127.0.0.1:9/' } } },
        { resolve, isAllowed },
      );
      const code = await rig.code('get_root', { catalog_url: server.origin });
      expect({ location, code }).toEqual({ location, code: 'forbidden' });
    }
    expect(inside.seen).toEqual([]);
  });

  it('cannot use a configured catalogue to get inside', async () => {
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
    const rig = await rigFor(
      { catalogs: { a: { url: configured.origin } } },
      { resolve, isAllowed },
    );
    expect(await rig.code('search_items', { catalog_url: server.origin })).toBe('forbidden');
    expect(configured.seen).toEqual([]);
  });

  it('is a configured catalogue where it names one', async () => {
    const { rig, server } = await world(api());
    expect(await rig.data('get_root', { catalog_url: `${server.origin}/` })).toMatchObject({
      catalog: 'test',
    });
  });

  it('can be switched off', async () => {
    const { rig } = await world(api(), { allowCatalogUrl: false });
    expect(await rig.code('get_root', { catalog_url: 'https://stac.example/' })).toBe('forbidden');
  });
});

describe('files of a catalogue', () => {
  it('are not asked for inside, unless they are the catalogue’s own', async () => {
    const other = await serve(() => ({ headers: { 'content-length': '5' } }));
    const assets = (origin: string) => ({
      own: { href: `${origin}/own` },
      inside: { href: `${other.origin}/secret` },
      metadata: { href: 'http://169.254.169.254/latest' },
      disk: { href: 'file:///etc/passwd' },
    });
    const { rig } = await world(
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
    expect(other.seen).toEqual([]);
  });

  it('are asked for where the operator trusts their store', async () => {
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
    const rig = await rigFor({
      catalogs: { a: { url: server.origin, headers: secret, trustedOrigins: [store.origin] } },
    });
    expect(await rig.data('estimate_data_size')).toMatchObject({ estimated_size_bytes: 5 });
    expect(store.seen).toHaveLength(1);
    expect(store.seen[0]?.headers.authorization).toBeUndefined();
    expect(
      server.seen.every(({ headers }) => headers.authorization === 'Bearer hidden-token'),
    ).toBe(true);
  });
});
