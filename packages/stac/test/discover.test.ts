import { describe, expect, it } from 'vitest';
import { api, collection } from './support/api.js';
import { useWorld } from './support/world.js';

const { serve, rigFor, world } = useWorld();

const twoCatalogs = async (second: 'works' | 'fails' = 'works') => {
  const one = await serve(api({ collections: [collection('sentinel-2-l2a'), collection('dem')] }));
  const other = await serve(
    second === 'works'
      ? api({ collections: [collection('landsat-c2-l2'), collection('sentinel-1-grd')] })
      : () => ({ status: 403, json: { description: 'no entry' } }),
  );
  const catalogs = { one: { url: one.origin }, other: { url: other.origin } };
  return rigFor({ catalogs, defaultCatalog: 'one' });
};

const found = (data: Readonly<Record<string, unknown>>) =>
  (data['collections'] as { id: string; catalog?: string }[]).map(
    ({ id, catalog }) => `${catalog ?? ''}/${id}`,
  );

describe('a search for collections in all configured catalogues', () => {
  it('merges what they find and says where each collection is', async () => {
    const rig = await twoCatalogs();
    const data = await rig.data('search_collections', { catalog: '*', q: 'sentinel' });
    expect(found(data)).toEqual(['one/sentinel-2-l2a', 'other/sentinel-1-grd']);
    expect(data).toMatchObject({ catalog: '*', matched: 2, searched: 'local', warnings: [] });
    expect(data['catalogs']).toMatchObject([
      { catalog: 'one', ok: true, matched: 1 },
      { catalog: 'other', ok: true, matched: 1 },
    ]);
  });

  it('pages through all of them without repeating one', async () => {
    const rig = await twoCatalogs();
    const all: string[] = [];
    let page_token: string | undefined;
    do {
      const answer = await rig.run('search_collections', {
        catalog: '*',
        limit: 1,
        ...(page_token && { page_token }),
      });
      if (!answer.success) throw new Error(JSON.stringify(answer.error));
      all.push(...found(answer.data));
      page_token = answer.meta.pagination?.next_token;
    } while (page_token !== undefined && all.length < 10);
    expect(all.toSorted()).toEqual([
      'one/dem',
      'one/sentinel-2-l2a',
      'other/landsat-c2-l2',
      'other/sentinel-1-grd',
    ]);
  });

  it('names a catalogue that failed, and all of them if none answered', async () => {
    const rig = await twoCatalogs('fails');
    const data = await rig.data('search_collections', { catalog: '*', q: 'sentinel' });
    expect(found(data)).toEqual(['one/sentinel-2-l2a']);
    expect(data['matched']).toBeNull();
    expect(data['warnings']).toEqual([
      expect.stringMatching(/^other was not searched: .*no entry/),
    ]);
    expect(data['catalogs']).toMatchObject([
      { ok: true },
      { ok: false, error: { code: 'forbidden' } },
    ]);

    const none = await serve(() => ({ status: 403, json: {} }));
    const catalogs = { a: { url: none.origin }, b: { url: `${none.origin}/b` } };
    const answer = await (await rigFor({ catalogs })).run('search_collections', { catalog: '*' });
    expect(answer).toMatchObject({
      error: { code: 'forbidden', message: expect.stringMatching(/ a: .* b: /) as unknown },
    });
  });

  it('belongs to search_collections; other tools name the tool to use', async () => {
    const { rig } = await world(api());
    const answer = await rig.run('search_items', { catalog: '*' });
    expect(answer).toMatchObject({
      error: {
        code: 'invalid_input',
        message: expect.stringContaining('search_federated') as unknown,
      },
    });
  });
});

describe('an empty answer', () => {
  it('names the catalogue that was searched and what to try', async () => {
    const rig = await twoCatalogs();
    const { warnings } = await rig.data('search_collections', { q: 'landsat' });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Found no matching collection in one\. Try: .*catalog "\*" \(also other\)/,
      ),
    ]);
    const everywhere = await rig.data('search_collections', { catalog: '*', q: 'nothing' });
    expect(everywhere['warnings']).toEqual([
      expect.stringMatching(/^Found no matching collection in one, other\. Try: use fewer/),
    ]);
  });
});
