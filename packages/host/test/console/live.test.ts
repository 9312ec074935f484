import { join } from 'node:path';
import { chooseDriver } from '@toolkeel/journal/testing';
import { describe, expect, it } from 'vitest';
import { openBeside, readEvents, startConsole, type StreamEvent } from './rig.js';

const open = { mode: 'autopilot', template: 'open' };
/** Changes the database behind the back of the store. */
const tamper = async (dataDir: string, statement: string): Promise<void> => {
  const driver = (await chooseDriver())(join(dataDir, 'journal.db'), 5000);
  driver.rows(statement, []);
  driver.close();
};
const down = { kind: 'server', sent: 'answered', status: 503 } as const;

describe('calls', () => {
  it('have a timeline of attempts and waits, each with its reason and planned end', async () => {
    const { agent, shop, script } = await startConsole({ config: open });
    shop.plans.push(down, {
      kind: 'rate_limited',
      sent: 'answered',
      status: 429,
      retryAfterMs: 30,
    });
    const { meta } = await agent('shop_look', {});
    await expect
      .poll(async () => (await script.get('/calls')).body['calls'])
      .toMatchObject([{ tool: 'shop_look', code: 'ok', attempts: 3, process_name: 'toolkeel' }]);
    const { call, timeline, envelope } = (await script.get(`/calls/${meta.correlation_id}`)).body;
    expect(call).toMatchObject({ correlation_id: meta.correlation_id });
    const items = (timeline as { items: readonly Record<string, unknown>[] }).items;
    expect(
      items.map(({ kind, reason, fault }) => [
        kind,
        reason,
        (fault as { kind?: string } | undefined)?.kind,
      ]),
    ).toEqual([
      ['attempt', undefined, 'server'],
      ['wait', 'backoff', undefined],
      ['attempt', undefined, 'rate_limited'],
      ['wait', 'rate_limit', undefined],
      ['attempt', undefined, undefined],
    ]);
    expect(items[1]).toMatchObject({
      text: 'Backoff after a server error (503).',
      upstream: 'api.shop.test',
    });
    for (const wait of [items[1], items[3]]) {
      const { from_ms: from, to_ms: to, planned_to_ms: planned } = wait as Record<string, number>;
      expect(planned).toBeGreaterThan(from ?? NaN);
      expect(to).toBeGreaterThanOrEqual((planned ?? NaN) - 2);
    }
    // The circuit is known once the process has reported.
    await expect
      .poll(async () => (await script.get(`/calls/${meta.correlation_id}`)).body['timeline'])
      .toMatchObject({ recorded: true, circuits: [{ upstream: 'api.shop.test' }] });
    expect(envelope).toMatchObject({
      success: true,
      omitted: ['The data of successful reads is not stored.'],
    });
  });

  it('are searched, filtered and paged, and hostile searches find nothing', async () => {
    const { agent, shop, script } = await startConsole({ config: open });
    for (let n = 0; n < 4; n++) await agent('shop_look', { at: `${n}` });
    shop.plans.push({ kind: 'rejected', sent: 'answered', status: 404 });
    await agent('shop_look', { at: 'gone' });
    await expect
      .poll(async () => ((await script.get('/calls')).body['calls'] as unknown[]).length)
      .toBe(5);
    const found = async (query: string) =>
      ((await script.get(`/calls?${query}`)).body['calls'] as { code: string }[]).map(
        ({ code }) => code,
      );
    expect(await found('code=failed')).toEqual(['not_found']);
    expect(await found('code=ok&limit=2')).toEqual(['ok', 'ok']);
    expect(await found('q=NOT_FOUND')).toEqual(['not_found']);
    for (const hostile of ["' OR 1=1 --", '%', '\u0000', '<script>']) {
      expect(await found(`q=${encodeURIComponent(hostile)}`)).toEqual([]);
    }
    const first = (await script.get('/calls?limit=3')).body;
    const second = (await script.get(`/calls?limit=3&before=${String(first['next'])}`)).body;
    expect((second['calls'] as unknown[]).length).toBe(2);
    expect(second['next']).toBeUndefined();
    for (const query of [
      'limit=0',
      'before=x',
      'outcome=maybe',
      'since=yesterday',
      'min_attempts=-1',
    ]) {
      expect([query, (await script.get(`/calls?${query}`)).status]).toEqual([query, 400]);
    }
    expect((await script.get('/calls/999999')).status).toBe(404);
  });

  it('in flight are shown as waiting, not as running, while they wait for another attempt', async () => {
    const { agent, shop, script } = await startConsole({ config: open });
    let release = (): void => undefined;
    shop.gate = new Promise((resolve) => {
      release = resolve;
    });
    shop.plans.push({ kind: 'rate_limited', sent: 'answered', retryAfterMs: 6_000 });
    const running = agent('shop_look', {});
    const inFlight = async () => (await script.get('/calls')).body['in_flight'];
    await expect
      .poll(inFlight)
      .toMatchObject([{ tool: 'shop_look', state: 'running', attempts: 1 }]);
    release();
    shop.gate = undefined;
    await expect.poll(inFlight).toMatchObject([
      {
        state: 'waiting',
        wait: { reason: 'rate_limit', until: expect.any(String) as string, next_attempt: 2 },
        last_fault: { kind: 'rate_limited' },
      },
    ]);
    const [call] = (await inFlight()) as { correlation_id: string }[];
    const shown = (await script.get(`/calls/${call?.correlation_id}`)).body;
    expect(shown).toMatchObject({
      in_flight: { state: 'waiting' },
      timeline: {
        items: [
          { kind: 'attempt', attempt: 1, fault: { kind: 'rate_limited' } },
          { kind: 'wait', reason: 'rate_limit', planned_to_ms: expect.any(Number) as number },
        ],
      },
    });
    expect((await script.get('/now')).body['counts']).toMatchObject({ in_flight: 1, retrying: 1 });
    void running;
  });

  it('keep what the agent saw, without arguments of a mutation', async () => {
    const { agent, script, server } = await startConsole({ config: open });
    const text = 'the text of a secret post';
    await agent('shop_post', { text: text.repeat(5) });
    const { meta } = await agent('shop_post', { text, card: 'card-4111' });
    await expect
      .poll(async () => ((await script.get('/calls')).body['calls'] as unknown[]).length)
      .toBe(2);
    const { envelope, operation } = (await script.get(`/calls/${meta.correlation_id}`)).body;
    expect(envelope).toMatchObject({ success: true, data: { id: 'p1' } });
    expect(operation).toMatchObject({ arguments: { text, card: '[sensitive]' } });
    const [refused] = (await script.get('/calls?code=failed')).body['calls'] as { seq: number }[];
    expect((await script.get(`/calls/${refused?.seq}`)).body['envelope']).toMatchObject({
      success: false,
      error: { code: 'validation_error' },
      omitted: [expect.stringContaining('Details are not stored')],
    });
    const { store } = await server.governance.operatorJournal();
    const stored = JSON.stringify([await store.calls({ details: true }), await store.processes()]);
    expect(stored).not.toContain('secret post');
    expect(stored).not.toContain('card-4111');
  });

  it('are counted by tool and minute', async () => {
    const { agent, shop, script } = await startConsole({ config: open });
    shop.plans.push({ kind: 'rejected', sent: 'answered', status: 404 });
    for (let n = 0; n < 4; n++) await agent('shop_look', { at: `${n}` });
    await expect
      .poll(async () => (await script.get('/metrics/series')).body['all'])
      .toMatchObject({
        total: { calls: 4, success_ratio: 0.75, codes: [{ code: 'not_found', calls: 1 }] },
      });
    const { minutes, tools } = (await script.get('/metrics/series')).body;
    expect(minutes).toHaveLength(60);
    const [look] = tools as { tool: string; calls: number[]; p95_ms: (number | null)[] }[];
    expect(look?.tool).toBe('shop_look');
    expect(look?.calls.reduce((sum, calls) => sum + calls, 0)).toBe(4);
    expect(look?.p95_ms.filter((value) => value !== null).every((value) => value > 0)).toBe(true);
  });
});

describe('what is broken', () => {
  it('is said in sentences, with since when and how many calls, and ends', async () => {
    const { agent, shop, script } = await startConsole({ config: open });
    expect((await script.get('/now')).body).toMatchObject({ status: 'ok', statements: [] });
    for (let n = 0; n < 20; n++) shop.plans.push(down);
    for (let n = 0; n < 4; n++) await agent('shop_look', { at: `${n}` });
    await expect
      .poll(async () => (await script.get('/now')).body)
      .toMatchObject({ status: 'broken' });
    const [first] = (await script.get('/now')).body['statements'] as Record<string, unknown>[];
    expect(first).toMatchObject({
      kind: 'circuit_open',
      severity: 'broken',
      upstream: 'api.shop.test',
      since: expect.any(String) as string,
      until: expect.any(String) as string,
      tools: ['shop_look'],
    });
    expect(first?.['text']).toMatch(
      /^shop \(api\.shop\.test\) fails with a server error \(503\)\.$/,
    );
    expect(first?.['detail']).toMatch(
      /^The circuit is open in toolkeel \(.*\)\. No request is sent/,
    );
    const [process] = (await script.get('/processes')).body['processes'] as { packs: unknown[] }[];
    expect(process?.packs).toContainEqual(
      expect.objectContaining({
        name: 'shop',
        upstreams: [
          expect.objectContaining({
            health: 'failing',
            circuit: expect.objectContaining({
              state: 'open',
              probe_at: expect.any(String) as string,
            }) as unknown,
            retry_budget: expect.objectContaining({ capacity: 60 }) as unknown,
          }),
        ],
      }),
    );
  });

  it('includes unknown operations, and processes that stopped reporting', async () => {
    const { agent, shop, script, server } = await startConsole({ config: open });
    shop.isReadable = false;
    shop.plans.push('lose');
    await agent('shop_post', { text: 'Hello' });
    const { store } = await server.governance.operatorJournal();
    const info = JSON.stringify({
      name: 'lost',
      transport: 'stdio',
      pid: 7,
      machine: 'm',
      packs: [],
    });
    await store.recordCalls([], { id: 'prc_lost', startedAt: 1, info, state: '{}' });
    await tamper(
      server.loaded.dataDir,
      `UPDATE processes SET reported_at = reported_at - 60000 WHERE id = 'prc_lost'`,
    );
    await expect
      .poll(async () =>
        ((await script.get('/now')).body['statements'] as { kind: string }[]).map(
          ({ kind }) => kind,
        ),
      )
      .toEqual(['process_lost', 'unknown_operations']);
    const { processes } = (await script.get('/processes')).body;
    expect(processes).toContainEqual(
      expect.objectContaining({ id: 'prc_lost', state: 'lost', here: false }),
    );
  });
});

describe('other processes', () => {
  it('that share the journal are shown with their calls, and their end', async () => {
    const started = await startConsole({ config: open });
    const { script, dir } = started;
    const beside = await openBeside({ dir, config: { ...open, http: { port: 0 } } });
    const second = await beside.listen();
    const list = async () =>
      (await script.get('/processes')).body['processes'] as { here: boolean; state: string }[];
    await expect
      .poll(async () => (await list()).map(({ state }) => state))
      .toEqual(['live', 'live']);
    await fetch(`${second.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'shop_look', arguments: {} },
      }),
    });
    await expect
      .poll(async () => (await script.get('/calls')).body['calls'])
      .toMatchObject([{ tool: 'shop_look' }]);
    const [call] = (await script.get('/calls')).body['calls'] as { process_id: string }[];
    const own = (await script.get('/session')).body['process_id'];
    expect(call?.process_id).not.toBe(own);
    await second.close();
    await expect
      .poll(async () => new Set((await list()).map(({ here, state }) => `${here} ${state}`)))
      .toEqual(new Set(['false ended', 'true live']));
  });
});

describe('events', () => {
  it('follow a snapshot, and continue after a gap without loss or repetition', async () => {
    const { url, token, agent, script } = await startConsole({ config: open });
    const headers = { authorization: `Bearer ${token}` };
    const snapshot = (await script.get('/snapshot')).body;
    expect(snapshot).toMatchObject({ calls: [], now: { status: 'ok' }, audit: { state: 'valid' } });
    await agent('shop_post', { text: 'one' });
    const hasOperation = (event: StreamEvent, all: readonly StreamEvent[]) =>
      all.some((one) => one.event === 'calls') && event.event === 'operations';
    const cursor = String(snapshot['cursor']);
    // Calls are recorded within a second, operations at once.
    await expect
      .poll(async () => ((await script.get('/calls')).body['calls'] as unknown[]).length)
      .toBe(1);
    const first = await readEvents(url, `/events?after=${cursor}`, headers, hasOperation);
    const types = new Set(first.map(({ event }) => event));
    expect(types).toContain('beat');
    expect(first.find(({ event }) => event === 'operations')?.data).toMatchObject({
      operations: [{ tool: 'shop_post', state: 'succeeded' }],
      approvals: [],
    });
    const last = first.at(-1)!.id;
    await agent('shop_look', { at: 'missed' });
    await expect
      .poll(async () => ((await script.get('/calls')).body['calls'] as unknown[]).length)
      .toBe(2);
    const later = await readEvents(
      url,
      '/events',
      { ...headers, 'last-event-id': last },
      ({ event }) => event === 'calls',
    );
    const calls = later.flatMap(({ event, data }) =>
      event === 'calls' ? (data['calls'] as { tool: string }[]) : [],
    );
    expect(calls.map(({ tool }) => tool)).toEqual(['shop_look']);
    const stale = await readEvents(
      url,
      '/events?after=999999.1',
      headers,
      ({ event }) => event !== 'beat',
    );
    expect(stale.at(-1)).toMatchObject({ event: 'reset' });
  });

  it('show a circuit that opens, and hostile strings as they are', async () => {
    const { url, token, agent, shop } = await startConsole({ config: open });
    const headers = { authorization: `Bearer ${token}` };
    const opened = readEvents(
      url,
      '/events',
      headers,
      ({ event, data }) =>
        event === 'now' &&
        (data['statements'] as { kind: string }[]).some(({ kind }) => kind === 'circuit_open'),
    );
    const text = '</script><img src=x onerror=alert(1)>\nevent: now\ndata: {}\n\n';
    await agent('shop_post', { text });
    for (let n = 0; n < 20; n++) shop.plans.push(down);
    for (let n = 0; n < 4; n++) await agent('shop_look', { at: `${n}` });
    const events = await opened;
    expect(events.every(({ id, event }) => /^\d+\.\d+$/.test(id) && event !== '')).toBe(true);
    expect(events.some(({ event }) => event === 'processes')).toBe(true);
  });
});

describe('tools and policy', () => {
  const rules = [
    {
      name: 'no ads',
      action: 'deny',
      when: { tool: 'shop_post', 'args.text': { contains: 'buy' } },
    },
  ];

  it('describe what this process has, and try a read only', async () => {
    const { script, shop } = await startConsole({
      config: open,
      extras: { files: '/nonexistent', countTokens: async () => (text) => text.length },
    });
    const { tools, tokens } = (await script.get('/tools')).body;
    const post = (tools as { name: string }[]).find(({ name }) => name === 'shop_post');
    expect(post).toMatchObject({
      effect: 'once',
      can_try: false,
      sensitive: ['card'],
      input_schema: { properties: { text: { type: 'string' } } },
      tokens: { model: expect.any(Number) as number, listing: expect.any(Number) as number },
    });
    expect((tokens as { listing: number }).listing).toBeGreaterThan(0);
    const tried = await script.post('/tools/shop_look/try', { arguments: { at: 'x' } });
    expect(tried.body).toMatchObject({ envelope: { success: true, data: { id: 'p0' } } });
    const wrong = await script.post('/tools/shop_look/try', { arguments: { other: 1 } });
    expect(wrong.body).toMatchObject({
      envelope: { success: false, error: { code: 'validation_error' } },
    });
    expect((await script.post('/tools/shop_post/try', { arguments: { text: 'x' } })).status).toBe(
      403,
    );
    expect((await script.post('/tools/none/try', {})).status).toBe(404);
    expect(shop.posts).toEqual([]);
  });

  it('explain a call without calling it', async () => {
    const { script, shop } = await startConsole({ config: { ...open, rules } });
    const policy = (await script.get('/policy')).body;
    expect(policy).toMatchObject({ mode: 'autopilot', template: 'open', config: { rules } });
    expect(policy['rules']).toContainEqual(
      expect.objectContaining({
        name: 'no ads',
        action: 'deny',
        source: 'user',
        tools: ['shop_post'],
      }),
    );
    const explain = async (args: object) =>
      script.post('/policy/explain', { tool: 'shop_post', arguments: args });
    expect((await explain({ text: 'buy it' })).body).toMatchObject({
      decision: 'deny',
      rule: 'no ads',
    });
    expect((await explain({ text: 'hello' })).body).toMatchObject({ decision: 'allow' });
    expect((await explain({ text: 5 })).status).toBe(400);
    expect((await script.post('/policy/explain', { tool: 'none', arguments: {} })).status).toBe(
      400,
    );
    expect(shop.posts).toEqual([]);
  });

  it('replay a changed policy over past operations', async () => {
    const { script, agent, shop } = await startConsole({ config: { ...open, rules } });
    for (const text of ['one', 'two', 'ask three', 'spam']) await agent('shop_post', { text });
    const ask = {
      name: 'ask',
      action: 'require_approval',
      when: { 'args.text': { contains: 'ask' } },
    };
    const spam = { name: 'spam', action: 'deny', when: { 'args.text': { contains: 'spam' } } };
    const replay = (config: object) => script.post('/policy/replay', { config });
    expect((await replay({ rules: [ask, spam] })).body).toMatchObject({
      operations: 4,
      skipped: 0,
      now: { allow: 4, deny: 0 },
      changed: { allow: 2, require_approval: 1, deny: 1 },
      text: 'Would have asked once and denied 1 of 4 operations.',
      differences: [
        {
          decisive: { value: 'spam' },
          was: { decision: 'allow' },
          becomes: { decision: 'deny', rule: 'spam' },
        },
        { decisive: { value: 'ask three' }, becomes: { decision: 'require_approval' } },
      ],
    });
    expect((await replay({ limits: { global: { perHour: 3 } } })).body).toMatchObject({
      changed: { allow: 3, limited: 1 },
    });
    const wrong = (await replay({ rules: [{ ...ask, when: { tool: 'none' } }] })).body;
    expect(wrong['mistakes']).toMatchObject([
      { path: expect.stringContaining('rules.0') as string },
    ]);
    expect(shop.posts).toHaveLength(4);
  });
});

describe('the audit', () => {
  it('is verified continuously, detects a change, and is exported', async () => {
    const { script, agent, server } = await startConsole({ config: open });
    for (const text of ['one', 'two']) await agent('shop_post', { text });
    const status = async () => (await script.get('/audit')).body;
    await expect
      .poll(status)
      .toMatchObject({ state: 'valid', problem_count: 0, verified: { seq: 4 } });
    await agent('shop_post', { text: 'three' });
    await expect.poll(status).toMatchObject({ state: 'valid', verified: { seq: 6 } });
    const page = (await script.get('/audit/rows?limit=4')).body;
    expect((page['rows'] as { seq: number }[]).map(({ seq }) => seq)).toEqual([6, 5, 4, 3]);
    const rest = (await script.get(`/audit/rows?limit=4&before=${String(page['next'])}`)).body;
    expect((rest['rows'] as { seq: number }[]).map(({ seq }) => seq)).toEqual([2, 1]);
    const csv = await script.get('/audit/export?format=csv');
    expect(String(csv.body['text']).trim().split('\r\n')).toHaveLength(7);

    const { head } = (await status()) as { head: { seq: number; hash: string } };
    const verify = (expected: string) => script.post('/audit/verify', { expect: expected });
    expect((await verify(`${head.seq}:${head.hash}`)).body).toMatchObject({ state: 'valid' });
    expect((await verify(`${head.seq}:${'0'.repeat(64)}`)).body).toMatchObject({
      state: 'invalid',
    });
    expect((await verify('nonsense')).status).toBe(400);

    await tamper(server.loaded.dataDir, `UPDATE audit SET actor = 'eve' WHERE seq = 2`);
    expect((await script.post('/audit/verify', {})).body).toMatchObject({
      state: 'invalid',
      problems: [{ kind: 'altered', seq: 2 }],
    });
    expect((await script.get('/now')).body).toMatchObject({
      status: 'broken',
      statements: [{ kind: 'audit_invalid' }],
    });
  });
});
