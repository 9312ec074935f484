import { echoes } from '@toolkeel/pack-kit/testing';
import { describe, expect, it } from 'vitest';
import { api, classes, item, page } from './support/api.js';
import { useHarness } from './support/rig.js';

const { serve, createRig } = useHarness();

const TOKEN = 'hunter2-hunter2';
const headers = {
  Authorization: { env: 'TOKEN', prefix: 'Bearer ' },
  'X-Api-Key': { env: 'TOKEN' },
};
const env = { TOKEN };

describe('credentials', () => {
  it('are sent to their catalogue', async () => {
    const server = await serve(api());
    const rig = await createRig({ catalogs: { a: { url: server.origin, headers } } }, { env });
    await rig.data('search_items');
    expect(
      server.requests.map((request) => [
        request.headers.authorization,
        request.headers['x-api-key'],
      ]),
    ).toEqual([
      [`Bearer ${TOKEN}`, TOKEN],
      [`Bearer ${TOKEN}`, TOKEN],
    ]);
  });

  it('are not sent to another origin by link, next link or redirect', async () => {
    const other = await serve(api());
    const port = new URL(other.origin).port;
    const foreign = `http://127.0.0.1:${port}`;
    const linking = await serve(({ path, origin }) => {
      if (path === '/')
        return {
          json: {
            conformsTo: ['x'],
            links: [
              { rel: 'search', href: `${origin}/search` },
              { rel: 'data', href: `${foreign}/collections` },
            ],
          },
        };
      return page(
        [item('a')],
        [{ rel: 'next', href: `${foreign}/search?token=2`, headers: { authorization: 'echo' } }],
      );
    });
    const redirecting = await serve(({ path }) => ({
      status: 307,
      headers: { location: `${foreign}${path}` },
    }));
    const trustedOrigins = [foreign];
    const catalogs = {
      a: { url: linking.origin, headers, trustedOrigins },
      b: { url: redirecting.origin, headers, trustedOrigins },
    };
    const rig = await createRig({ catalogs }, { env });
    await rig.data('get_collection', { collection_id: 'scenes' });
    const first = await rig.run('search_items');
    await rig.data('search_items', { page_token: first.meta.pagination?.next_token });
    await rig.data('get_root', { catalog: 'b' });
    expect(other.requests.length).toBeGreaterThanOrEqual(3);
    for (const request of other.requests) {
      expect(request.headers.authorization).toBeUndefined();
      expect(request.headers['x-api-key']).toBeUndefined();
    }
  });

  it('are not sent after a redirect to another origin and back', async () => {
    const landing = api();
    const away = await serve(({ params }) => ({
      status: 307,
      headers: { location: `${params.get('home')}/back` },
    }));
    const home = await serve((request, count) => {
      const { path, origin } = request;
      if (path === '/back') return landing({ ...request, path: '/' }, count);
      const location = `${away.origin}/?home=${encodeURIComponent(origin)}`;
      return path === '/' ? { status: 307, headers: { location } } : landing(request, count);
    });
    const trustedOrigins = [away.origin];
    const catalogs = { a: { url: home.origin, headers, trustedOrigins } };
    const rig = await createRig({ catalogs }, { env });
    await rig.data('get_root');
    expect(home.requests.map((request) => [request.path, request.headers.authorization])).toEqual([
      ['/', `Bearer ${TOKEN}`],
      ['/back', undefined],
    ]);
  });

  it('are redacted from results and tokens if the server echoes them', async () => {
    const echo = `you sent Bearer ${TOKEN}`;
    const server = await serve(
      api({
        before: ({ path, origin }) => {
          if (path === '/collections/scenes') return { status: 400, json: { description: echo } };
          if (path !== '/search') return undefined;
          return page(
            [item('a', { properties: { note: echo } })],
            [{ rel: 'next', href: `${origin}/search?key=${TOKEN}` }],
          );
        },
      }),
    );
    const rig = await createRig({ catalogs: { a: { url: server.origin, headers } } }, { env });
    const answers = [
      await rig.run('search_items', { output_format: 'json' }),
      await rig.run('get_collection', { collection_id: 'scenes' }),
    ];
    for (const answer of answers) {
      expect(JSON.stringify(answer)).not.toContain(TOKEN);
      const token = answer.meta.pagination?.next_token ?? '';
      expect(Buffer.from(token, 'base64url').toString()).not.toContain(TOKEN);
    }
    expect(JSON.stringify(rig.events)).not.toContain(TOKEN);
  });
});

describe('credentials that a server echoes in another encoding', () => {
  const escaped = (text: string) =>
    [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  const percent = (text: string) =>
    [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
  const disguises: [string, string][] = [
    ['escaped for JSON', escaped(TOKEN)],
    ['escaped for a URL', percent(TOKEN)],
    ['escaped for both', escaped(percent(TOKEN))],
    ['with a tab that a URL loses', TOKEN.replace('2', String.raw`2\t`)],
  ];
  /** Everything readable in a result, including its token. */
  const readOut = (answer: { meta: { pagination?: { next_token?: string | null } } }) => {
    const token = answer.meta.pagination?.next_token ?? '';
    const text = JSON.stringify(answer) + Buffer.from(token, 'base64url').toString('latin1');
    return `${text} ${decodeURIComponent(text.replaceAll(/%(?![\da-f]{2})/gi, '%25'))}`;
  };

  it.each(disguises)('are redacted from results and tokens: %s', async (_, disguise) => {
    const server = await serve(
      api({
        conformsTo: Object.values(classes),
        before: ({ path, origin }) => {
          const list = path === '/search' ? 'features' : 'collections';
          if (path === '/collections/scenes')
            return { status: 400, text: `{"description":"you sent ${disguise}"}` };
          if (path !== '/search' && path !== '/collections') return undefined;
          const next = `{"rel":"next","href":"${origin}${path}?n=2&t=${disguise}","headers":{"X-Trace":"${disguise}"}}`;
          const one = `{"id":"a","properties":{"note":"${disguise}"},"assets":{},"extent":{}}`;
          return { text: `{"type":"FeatureCollection","${list}":[${one}],"links":[${next}]}` };
        },
      }),
    );
    const rig = await createRig({ catalogs: { a: { url: server.origin, headers } } }, { env });
    const calls: [string, object][] = [
      ['search_items', { output_format: 'json' }],
      ['search_federated', { catalogs: ['a'] }],
      ['search_collections', {}],
      ['search_collections', { output_format: 'json' }],
      ['get_collection', { collection_id: 'scenes' }],
    ];
    for (const [tool, args] of calls) {
      const answer = await rig.run(tool, args);
      expect({ tool, text: readOut(answer) }).not.toEqual({
        tool,
        text: expect.stringContaining(TOKEN) as unknown,
      });
      if (tool.startsWith('search')) expect(answer).toMatchObject({ success: true });
    }
    expect(JSON.stringify(rig.events)).not.toContain(TOKEN);
  });

  it('are redacted from the URL of a result', async () => {
    const landing = api();
    const server = await serve((request, count) =>
      request.path === '/' && !request.params.has('k')
        ? { status: 307, headers: { location: `/?k=${percent(TOKEN)}` } }
        : landing(request, count),
    );
    const rig = await createRig({ catalogs: { a: { url: server.origin, headers } } }, { env });
    const answer = await rig.run('get_root');
    expect(readOut(answer)).not.toContain(TOKEN);
    expect(answer).toMatchObject({ success: false, error: { code: 'upstream_unavailable' } });
  });
});

describe('signing', () => {
  const blob = 'https://account.blob.core.windows.net/container/file.tif';
  const setup = async (expiry: () => string, before?: Parameters<typeof api>[0]) => {
    const server = await serve(
      api({
        items: [
          item('a', {
            assets: {
              x: { href: blob },
              y: { href: blob },
              open: { href: 'https://free.blob.core.windows.net/c/f' },
              other: { href: 'https://files.example/z' },
            },
          }),
        ],
        ...before,
        before: ({ path }) =>
          path.startsWith('/sas/')
            ? { json: { token: 'sig=abc&se=1', 'msft:expiry': expiry() } }
            : undefined,
      }),
    );
    const signing = {
      tokenUrl: `${server.origin}/sas`,
      openAccounts: ['free'],
      subscriptionKey: { env: 'TOKEN' },
    };
    const rig = await createRig({ catalogs: { a: { url: server.origin, signing } } }, { env });
    const tokens = () => server.requests.filter(({ path }) => path.startsWith('/sas/'));
    return { rig, tokens };
  };
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
  const hrefs = (data: Readonly<Record<string, unknown>>) =>
    Object.values((data['item'] as { assets: Record<string, { href: string }> }).assets).map(
      ({ href }) => href,
    );

  it('signs only assets that need it, with one token, on request', async () => {
    const { rig, tokens } = await setup(inAnHour);
    const args = { collection_id: 'scenes', item_id: 'a' };
    expect(hrefs(await rig.data('get_item', args))).toContain(blob);
    expect(tokens()).toHaveLength(0);
    expect(hrefs(await rig.data('get_item', { ...args, sign_assets: true }))).toEqual([
      `${blob}?sig=abc&se=1`,
      `${blob}?sig=abc&se=1`,
      'https://free.blob.core.windows.net/c/f',
      'https://files.example/z',
    ]);
    await rig.data('search_items', { sign_assets: true, output_format: 'json' });
    expect(tokens()).toHaveLength(1);
    expect(tokens()[0]).toMatchObject({
      path: '/sas/account/container',
      headers: { 'ocp-apim-subscription-key': TOKEN },
    });
  });

  it('renews a token shortly before it expires', async () => {
    const { rig, tokens } = await setup(() => new Date(Date.now() + 30_000).toISOString());
    const args = { collection_id: 'scenes', item_id: 'a', sign_assets: true };
    await rig.data('get_item', args);
    await rig.data('get_item', args);
    expect(tokens()).toHaveLength(2);
  });

  it('reports an unavailable token service', async () => {
    const { rig } = await setup(() => 'never');
    expect(
      await rig.code('get_item', { collection_id: 'scenes', item_id: 'a', sign_assets: true }),
    ).toBe('upstream_unavailable');
  });
});

describe('every encoding in which a server can echo a credential', () => {
  const SECRET = 'tok-ABC/def+0123_456.789=';

  it.each(echoes)('is redacted from results and events: $name', async ({ write }) => {
    const echo = write(SECRET);
    const server = await serve(
      api({
        before: ({ path }) => {
          if (path === '/collections/scenes') return { status: 400, json: { description: echo } };
          if (path === '/collections') return { status: 400, text: `no: ${echo}` };
          if (path !== '/search') return undefined;
          return page([item('a', { properties: { note: echo, [echo]: 1 } })]);
        },
      }),
    );
    const catalogs = { a: { url: server.origin, headers } };
    const rig = await createRig({ catalogs }, { env: { TOKEN: SECRET } });
    const answers = [
      await rig.run('search_items', { output_format: 'json' }),
      await rig.run('get_collection', { collection_id: 'scenes' }),
      await rig.run('search_collections'),
    ];
    for (const answer of answers) {
      const text = JSON.stringify(answer);
      expect(text).toContain('[redacted]');
      for (const part of [SECRET, echo, 'tok-ABC']) {
        expect(text).not.toContain(JSON.stringify(part).slice(1, -1));
      }
    }
    expect(JSON.stringify(rig.events)).not.toContain(JSON.stringify(echo).slice(1, -1));
  });
});
