import { describe, expect, it } from 'vitest';
import { api, item } from './support/api.js';
import { useHarness } from './support/rig.js';

const { serve, createRig, setup } = useHarness();

const blob = 'https://account.blob.core.windows.net/container/red.tif';
const preview = 'https://account.blob.core.windows.net/container/preview.png';
const scene = item('a', {
  links: [{ rel: 'self', href: 'https://files.example/scenes/a.json' }],
  assets: {
    red: { href: blob, type: 'image/tiff', roles: ['data', 'reflectance'], 'eo:bands': [{}] },
    metadata: { href: './a.xml', type: 'application/xml', roles: ['metadata'] },
    preview: { href: preview, type: 'image/png', roles: ['thumbnail'] },
  },
});

const place = { collection_id: 'scenes', item_id: 'a' };
const firstItem = (data: Readonly<Record<string, unknown>>) =>
  (data['items'] as readonly Record<string, unknown>[])[0];

const signing = async () => {
  const expiry = new Date(Date.now() + 3_600_000).toISOString();
  const server = await serve(
    api({
      items: [scene],
      before: ({ path }) =>
        path.startsWith('/sas/')
          ? { json: { token: 'sig=abc', 'msft:expiry': expiry } }
          : undefined,
    }),
  );
  const catalog = { url: server.origin, signing: { tokenUrl: `${server.origin}/sas` } };
  return { rig: await createRig({ catalogs: { test: catalog } }), server };
};

describe('asset URLs', () => {
  it('include the thumbnail of every item by default', async () => {
    const { rig } = await setup(api({ items: [scene, item('b')] }));
    const { items } = await rig.data('search_items');
    expect(items).toMatchObject([
      { id: 'a', thumbnail: preview, assets: ['red', 'metadata', 'preview'] },
      { id: 'b', assets: ['red'] },
    ]);
    expect((items as object[])[1]).not.toHaveProperty('thumbnail');
  });

  it('are returned for selected keys and roles, and resolved against the item', async () => {
    const { rig } = await setup(api({ items: [scene] }));
    const found = await rig.data('search_items', { assets: ['data', 'metadata'] });
    expect(firstItem(found)?.['assets']).toEqual({
      red: { href: blob, type: 'image/tiff', roles: ['data', 'reflectance'] },
      metadata: {
        href: 'https://files.example/scenes/a.xml',
        type: 'application/xml',
        roles: ['metadata'],
      },
    });
    const { item: one } = await rig.data('get_item', { ...place, assets: ['red'] });
    expect(one).toMatchObject({ thumbnail: preview, assets: { red: { href: blob } } });
    expect(Object.keys((one as { assets: object }).assets)).toEqual(['red']);
  });

  it('are filtered in json and added to `fields`', async () => {
    const { rig } = await setup(api({ items: [scene] }));
    const json = { assets: ['red'], output_format: 'json' };
    expect(firstItem(await rig.data('search_items', json))).toMatchObject({
      type: 'Feature',
      assets: { red: { href: blob, 'eo:bands': [{}] } },
    });
    const picked = { assets: 'red', fields: ['properties.platform', '-assets'] };
    expect(firstItem(await rig.data('search_items', picked))).toEqual({
      id: 'a',
      collection: 'scenes',
      properties: { platform: 'sat-1' },
      assets: { red: expect.objectContaining({ href: blob }) as unknown },
    });
  });

  it('are signed in every output format on request', async () => {
    const { rig, server } = await signing();
    const signed = { red: { href: `${blob}?sig=abc` } };
    const all = firstItem(await rig.data('search_items', { sign_assets: true }));
    expect(all).toMatchObject({ thumbnail: `${preview}?sig=abc`, assets: signed });
    const some = await rig.data('search_items', { sign_assets: true, assets: ['red'] });
    expect(firstItem(some)).toMatchObject({ thumbnail: `${preview}?sig=abc`, assets: signed });
    const one = await rig.data('get_item', { ...place, sign_assets: true, assets: ['data'] });
    expect(one).toMatchObject({ item: { thumbnail: `${preview}?sig=abc`, assets: signed } });
    expect(server.requests.filter(({ path }) => path.startsWith('/sas/'))).toHaveLength(1);
  });

  it('that the result omits cause a warning with sign_assets', async () => {
    const { rig } = await signing();
    const args = { sign_assets: true, fields: ['properties.datetime'] };
    const warnings = [expect.stringContaining('Add `assets`')];
    expect(await rig.data('search_items', args)).toMatchObject({ warnings });
    expect(await rig.data('get_item', { ...place, ...args })).toMatchObject({ warnings });
  });

  it('that no item has cause a warning with a suggestion', async () => {
    const { rig } = await setup(api({ items: [scene] }));
    const warnings = [
      'No item has an asset with the key or role "Red ". Did you mean "red"? Keys: red, metadata, preview.',
    ];
    expect(await rig.data('search_items', { assets: ['Red ', 'data'] })).toMatchObject({
      warnings,
    });
    expect(await rig.data('get_item', { ...place, assets: ['Red '] })).toMatchObject({ warnings });
  });
});
