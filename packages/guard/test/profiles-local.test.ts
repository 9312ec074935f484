import { testJournal } from '@toolkeel/journal/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { findChromium } from '../../../scripts/lib/chromium.mjs';
import type { Message } from '../src/frame.js';
import { errorReader } from '../src/faults.js';
import { frameOf, type ResponseFrame } from '../src/frame.js';
import { preload, startApi, type ApiDouble } from './support/api-double.js';
import { textOf, useServerRig, type Repeated } from './support/server-rig.js';

// Profiles of servers that work on something that can run here: a database, a browser, web pages.

const { dir, open, expectEffects } = useServerRig();
const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanUp.splice(0).map((step) => step()));
});

const pages = async (routes: Parameters<typeof startApi>[0], host?: string): Promise<ApiDouble> => {
  const served = await startApi(routes, host);
  cleanUp.push(served.close);
  return served;
};

describe('the profile of', () => {
  it('server-postgres holds for repeated queries', async () => {
    const { server, schema, drop } = await testJournal();
    cleanUp.push(drop);
    const client = await open('postgres', { args: [server] });
    const query = (sql: string): Promise<Message> => client.call('query', { sql });
    await query(`COMMIT; CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.t (n int)`);
    const rows = async (): Promise<unknown> =>
      JSON.parse(textOf(await query(`SELECT n FROM ${schema}.t`)));
    const insert = `INSERT INTO ${schema}.t VALUES (1)`;
    await expectEffects(
      [{ tool: 'query', args: { sql: `COMMIT; ${insert}` }, effect: 'once' }],
      rows,
    );
    expect(await rows()).toEqual([{ n: 1 }, { n: 1 }]);
    const refused = await query(insert);
    expect(textOf(refused)).toContain('cannot execute INSERT in a read-only transaction');
    expect(errorReader().fault(frameOf(refused) as ResponseFrame, 'query')).toBeUndefined();
    expect(await rows()).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it('mcp-fetch-server holds for repeated calls', async () => {
    const text = '<html><body><article><h1>t</h1><p>hello world</p></article></body></html>';
    const captions = [{ baseUrl: 'http://93.184.216.34/captions?v=1', languageCode: 'en' }];
    const player = { captions: { playerCaptionsTracklistRenderer: { captionTracks: captions } } };
    const { env, requests, refuse } = await pages({
      'GET 93.184.216.34/page': () => ({ text }),
      'GET 93.184.216.34/json': () => ({ json: { a: 1 } }),
      'GET 93.184.216.34/video': () => ({
        text: `<script>ytInitialPlayerResponse = ${JSON.stringify(player)};</script>`,
      }),
      'GET 93.184.216.34/captions': () => ({ text: '<text start="1" dur="1">hi</text>' }),
    });
    // Private addresses are refused, so the page has a public one; without a PATH no other program is used.
    const client = await open('fetch', { env: { ...env, PATH: dir() }, preload });
    const url = 'http://93.184.216.34/page';
    await expectEffects(
      [
        ...['fetch_html', 'fetch_markdown', 'fetch_txt', 'fetch_readable'].map(
          (tool): Repeated => ({
            tool,
            args: { url },
            effect: 'read',
          }),
        ),
        { tool: 'fetch_json', args: { url: 'http://93.184.216.34/json' }, effect: 'read' },
        {
          tool: 'fetch_youtube_transcript',
          args: { url: 'http://93.184.216.34/video' },
          effect: 'read',
        },
      ],
      () => '',
    );
    expect(requests.filter((request) => !request.startsWith('GET '))).toEqual([]);
    expect(requests).toHaveLength(2 * 7);
    expect(textOf(await client.call('fetch_html', { url: 'http://127.0.0.1/' }))).toContain(
      'blocked request to private address',
    );
    for (const [status, attempts, kind] of [
      [429, 1, 'rate_limited'],
      [503, 3, 'server'],
      [404, 1, undefined],
    ] as const) {
      refuse({ status, text: 'no' });
      const before = requests.length;
      const answer = await client.call('fetch_html', { url });
      expect(textOf(answer)).toBe(`Failed to fetch ${url}: HTTP error: ${status}`);
      expect(requests.length - before).toBe(attempts);
      expect(errorReader().fault(frameOf(answer) as ResponseFrame, 'fetch_html')?.kind).toBe(kind);
    }
  });

  it('@playwright/mcp holds for repeated calls in a browser', async () => {
    const { url, requests } = await pages(
      {
        'GET page/': () => ({
          text: '<title>p</title><button onclick="this.textContent += 1">clicked</button>',
        }),
      },
      'page',
    );
    const client = await open('playwright', {
      args: [
        '--headless',
        '--isolated',
        '--no-sandbox',
        '--output-dir',
        dir(),
        '--timeout-settle',
        '0',
        '--snapshot-mode',
        'none',
        '--executable-path',
        findChromium(),
      ],
    });
    const seen = `() => JSON.stringify([innerWidth, innerHeight, document.body.innerHTML,
      matchMedia('(prefers-color-scheme: dark)').matches])`;
    // The answers also have events, such as a favicon that was not found.
    const resultIn = (answer: Message): unknown =>
      /### Result\n([^]*?)(?=\n###|$)/.exec(textOf(answer))?.[1];
    const state = async (): Promise<unknown> => [
      resultIn(await client.call('browser_evaluate', { function: seen })),
      resultIn(await client.call('browser_tabs', { action: 'list' })),
      requests.filter((request) => request === 'GET page/').length,
    ];
    await client.call('browser_navigate', { url });
    const reads = [
      ['browser_snapshot', {}],
      ['browser_find', { text: 'clicked' }],
      ['browser_console_messages', { level: 'info' }],
      ['browser_network_requests', { static: true }],
      ['browser_network_request', { index: 1 }],
      ['browser_take_screenshot', { scale: 'css' }],
      ['browser_wait_for', { text: 'clicked' }],
      ['browser_tabs', { action: 'list' }],
    ] as const;
    await expectEffects(
      [
        ...reads.map(([tool, args]): Repeated => ({ tool, args, effect: 'read' })),
        { tool: 'browser_resize', args: { width: 500, height: 400 }, effect: 'idempotent' },
        { tool: 'browser_emulate_media', args: { colorScheme: 'dark' }, effect: 'idempotent' },
        { tool: 'browser_click', args: { target: 'button' }, effect: 'once' },
        { tool: 'browser_tabs', args: { action: 'new' }, effect: 'once' },
        { tool: 'browser_tabs', args: { action: 'select', index: 0 }, effect: 'idempotent' },
        { tool: 'browser_tabs', args: { action: 'close', index: 1 }, effect: 'once' },
        { tool: 'browser_navigate', args: { url }, effect: 'once' },
      ],
      state,
    );
    const [final] = (await state()) as [string];
    expect(final).toContain('500,400');
    expect(final).toContain('true');
  });
});
