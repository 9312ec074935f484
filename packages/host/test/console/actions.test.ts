import { describe, expect, it } from 'vitest';
import { openBeside, startConsole, type Reply } from './rig.js';

type Started = Awaited<ReturnType<typeof startConsole>>;

const composer = { mode: 'composer' };

/** Requests an approval and returns its id. */
const request = async ({ agent }: Started, args?: object): Promise<string> => {
  const { error } = await agent('shop_post', args ?? { text: 'Hello' });
  expect(error?.code).toBe('approval_required');
  return error?.operation_id ?? '';
};

/** Loses the response of a post, so that its outcome is unknown. */
const lose = async ({ agent, shop }: Started, text: string): Promise<string> => {
  shop.isReadable = false;
  shop.plans.push('lose');
  const { error } = await agent('shop_post', { text });
  expect(error?.code).toBe('outcome_unknown');
  return error?.operation_id ?? '';
};

const act = async (
  person: { readonly post: (path: string, body: unknown) => Promise<Reply> },
  action: object,
): Promise<Reply> => {
  const { status, body } = await person.post('/preview', action);
  expect([status, body]).toEqual([200, body]);
  return person.post('/actions', { ...action, version: body['version'] });
};

describe('approvals', () => {
  it('show what would happen, and then it happens once', async () => {
    const started = await startConsole({ config: composer });
    const { script, signIn, shop, agent } = started;
    const id = await request(started, { text: 'Hello', card: '4111' });
    const ana = await signIn('ana');
    const list = (await ana.get('/approvals')).body;
    expect(list['approvals']).toMatchObject([
      {
        id,
        rule: 'mode:composer',
        decisive: { name: 'text', value: 'Hello', cut: false },
        arguments: { text: 'Hello', card: '[sensitive]' },
        cost: { amount: 0.01, unit: 'USD' },
      },
    ]);
    const shown = (await ana.get(`/approvals/${id}`)).body;
    expect(shown).toMatchObject({
      arguments: { text: 'Hello' },
      masked: ['card'],
      text: { argument: 'text', value: 'Hello', length: 5 },
      input_schema: { properties: { text: { type: 'string' } } },
      actions: ['approve', 'edit', 'edit_and_approve', 'reject'],
    });

    const action = { action: 'approve', operation_id: id, reason: 'fine' };
    const preview = (await ana.post('/preview', action)).body;
    expect(preview).toMatchObject({
      arguments: { text: 'Hello', card: '[sensitive]' },
      audit: { kind: 'approval_decided', actor: 'ana', operation_id: id, tool: 'shop_post' },
      consequences: [
        expect.stringMatching(
          /^Runs shop_post once, as .*, for 0\.01 USD, within about 1 s of your press; nothing blocks it now\.$/,
        ),
      ],
    });
    const checks = preview['checks'] as readonly { by: string; result: string }[];
    expect(checks.map(({ by, result }) => `${by} ${result}`)).toEqual([
      'arguments passes',
      'policy passes',
      'policy_limit passes',
      'process passes',
      'circuit passes',
      'rate_limit passes',
      'retry_budget passes',
      'expiry passes',
    ]);
    expect(shop.posts).toEqual([]);

    const done = await ana.post('/actions', { ...action, version: preview['version'] });
    expect(done).toMatchObject({
      status: 200,
      body: {
        text: 'Approved. A live process executes it now.',
        operation: { approval: { decision: 'approved', decided_by: 'ana' } },
        audit: { kind: 'approval_decided', actor: 'ana' },
      },
    });
    // The entry is the one that the preview promised.
    const promised = (preview['audit'] as { detail: object }).detail;
    expect(done.body['audit']).toMatchObject({ detail: promised });
    await expect.poll(() => shop.posts).toEqual(['Hello']);
    await expect
      .poll(async () => (await script.get(`/operations/${id}`)).body['operation'])
      .toMatchObject({ state: 'succeeded' });
    expect(await agent('shop_post', { text: 'Hello', card: '4111' })).toMatchObject({
      success: true,
    });
    expect(shop.posts).toEqual(['Hello']);
  });

  it('of two people that press at once, one is told', async () => {
    const started = await startConsole({ config: composer });
    const id = await request(started);
    const [ana, ben] = [await started.signIn('ana'), await started.signIn('ben')];
    const action = { action: 'approve', operation_id: id };
    const { version } = (await ana.post('/preview', action)).body;
    const reject = { action: 'reject', operation_id: id, reason: 'no' };
    const other = (await ben.post('/preview', reject)).body;
    const both = await Promise.all([
      ana.post('/actions', { ...action, version }),
      ben.post('/actions', { ...reject, version: other['version'] }),
    ]);
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    const lost = both.find(({ status }) => status === 409);
    const { code } = (lost?.body['error'] ?? {}) as { code?: string };
    expect(['state_moved', 'already']).toContain(code);
    expect(lost?.body['operation']).toMatchObject({ id });
  });

  it('a state that moved is shown as a difference, and nothing is done', async () => {
    const started = await startConsole({ config: composer });
    const { shop } = started;
    const id = await request(started);
    const [ana, ben] = [await started.signIn('ana'), await started.signIn('ben')];
    const action = { action: 'approve', operation_id: id };
    const { version } = (await ana.post('/preview', action)).body;
    const edit = { action: 'edit', operation_id: id, changes: { text: 'Goodbye' } };
    expect((await act(ben, edit)).status).toBe(200);

    const moved = await ana.post('/actions', { ...action, version });
    expect(moved).toMatchObject({
      status: 409,
      body: {
        error: { code: 'state_moved' },
        difference: [
          { field: 'arguments', is: expect.stringContaining('edited by ben') as string },
        ],
        preview: { arguments: { text: 'Goodbye' } },
      },
    });
    expect(shop.posts).toEqual([]);
    const again = moved.body['preview'] as { version: string };
    expect((await ana.post('/actions', { ...action, version: again.version })).status).toBe(200);
    await expect.poll(() => shop.posts).toEqual(['Goodbye']);
  });

  it('an edit shows both versions, is checked, and is executed as edited', async () => {
    const started = await startConsole({ config: composer });
    const { shop, signIn } = started;
    const id = await request(started);
    const ana = await signIn('ana');
    const edit = (text: unknown) => ({
      action: 'edit_and_approve',
      operation_id: id,
      changes: { text },
    });
    for (const wrong of ['x'.repeat(101), 5]) {
      const { body } = await ana.post('/preview', edit(wrong));
      expect(body['refused']).toContain('text');
      const refused = await ana.post('/actions', { ...edit(wrong), version: body['version'] });
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'refused' } } });
    }
    const preview = (await ana.post('/preview', edit('Hi'))).body;
    expect(preview).toMatchObject({
      arguments: { text: 'Hi' },
      arguments_before: { text: 'Hello' },
      text: { value: 'Hi' },
    });
    const before = (await ana.get(`/approvals/${id}`)).body['approval'] as {
      approval: { hash: string };
    };
    expect(preview['hash']).not.toBe(before.approval.hash);
    const done = await ana.post('/actions', { ...edit('Hi'), version: preview['version'] });
    expect(done.body['operation']).toMatchObject({
      approval: { hash: preview['hash'], edited_by: 'ana', decided_by: 'ana' },
    });
    await expect.poll(() => shop.posts).toEqual(['Hi']);
  });

  it('the agent gets the reason of a rejection', async () => {
    const started = await startConsole({ config: composer });
    const id = await request(started);
    const ana = await started.signIn('ana');
    const reason = 'Not on a Friday.';
    expect((await act(ana, { action: 'reject', operation_id: id, reason })).status).toBe(200);
    const { error } = await started.agent('shop_post', { text: 'Hello' });
    expect(error).toMatchObject({ code: 'approval_denied' });
    expect(JSON.stringify(error)).toContain(reason);
    const shown = (await ana.get(`/approvals/${id}`)).body;
    expect(shown).toMatchObject({
      actions: [],
      next_step: expect.stringContaining('rejected') as string,
    });
    const late = (await ana.post('/preview', { action: 'approve', operation_id: id })).body;
    expect(late['refused']).toContain('rejected');
  });

  it('say before the press that an open circuit would still stop it', async () => {
    const started = await startConsole({ config: composer });
    const { agent, shop, signIn, script } = started;
    const id = await request(started);
    for (let n = 0; n < 12; n++) shop.plans.push({ kind: 'server', sent: 'answered', status: 503 });
    for (let n = 0; n < 3; n++) await agent('shop_look', { at: `${n}` });
    await expect
      .poll(async () =>
        ((await script.get('/now')).body['statements'] as { kind: string }[]).map(
          ({ kind }) => kind,
        ),
      )
      .toContain('circuit_open');
    const ana = await signIn('ana');
    const { checks, consequences } = (
      await ana.post('/preview', { action: 'approve', operation_id: id })
    ).body;
    expect(checks).toContainEqual(
      expect.objectContaining({
        by: 'circuit',
        result: 'blocks',
        until: expect.any(String) as string,
      }),
    );
    expect(consequences).toEqual([
      'Nothing is sent now. Requests to shop (api.shop.test) fail (circuit open).',
      expect.stringMatching(/^Later: runs shop_post once, as .*, unless it expires/),
      'It may be the test itself, and fail or end with an unknown outcome.',
    ]);
  });

  it('a policy limit that is reached is named', async () => {
    const limits = { posts: { perDay: 1 } };
    const rules = [
      {
        name: 'ask',
        action: 'require_approval',
        when: { tool: 'shop_post', 'args.text': { contains: 'ask' } },
      },
    ];
    const started = await startConsole({
      config: { mode: 'autopilot', template: 'open', limits, rules },
    });
    expect(await started.agent('shop_post', { text: 'first' })).toMatchObject({ success: true });
    const id = await request(started, { text: 'ask me' });
    const ana = await started.signIn('ana');
    const { checks } = (await ana.post('/preview', { action: 'approve', operation_id: id })).body;
    expect(checks).toContainEqual(
      expect.objectContaining({
        by: 'policy_limit',
        result: 'blocks',
        until: expect.any(String) as string,
      }),
    );
  });

  it('a page cannot name another person, nor use the routes of scripts', async () => {
    const started = await startConsole({ config: composer });
    const id = await request(started);
    const ana = await started.signIn('ana');
    const { version } = (await ana.post('/preview', { action: 'reject', operation_id: id })).body;
    const done = await ana.post('/actions', {
      action: 'reject',
      operation_id: id,
      version,
      by: 'eve',
    });
    expect(done.body['operation']).toMatchObject({ approval: { decided_by: 'ana' } });
    for (const path of [
      `/approvals/${id}/approve`,
      `/approvals/${id}/edit`,
      `/operations/${id}/resolve`,
    ]) {
      expect((await ana.post(path, { hash: 'x', outcome: 'executed' })).status).toBe(403);
    }
  });

  it('refuses malformed requests', async () => {
    const started = await startConsole({ config: composer });
    const id = await request(started);
    const ana = await started.signIn('ana');
    const bad = [
      {},
      { action: 'explode', operation_id: id },
      { action: 'approve', operation_id: id, extra: 1 },
      { action: 'reject', operation_id: id, reason: 'x'.repeat(501) },
    ];
    for (const body of bad) expect((await ana.post('/preview', body)).status).toBe(400);
    for (const version of ['', 'x', '!!!', Buffer.from('[]').toString('base64url')]) {
      const { status } = await ana.post('/actions', {
        action: 'approve',
        operation_id: id,
        version,
      });
      expect(status).toBe(400);
    }
    const absent = { action: 'approve', operation_id: 'op_none' };
    expect((await ana.post('/preview', absent)).status).toBe(404);
    const huge = { action: 'reject', operation_id: id, data: 'x'.repeat(300_000) };
    expect((await ana.post('/preview', huge)).status).toBe(413);
  });
});

describe('operations with an unknown outcome', () => {
  const open = { mode: 'autopilot', template: 'open' };

  it('show their evidence, and are settled by reading the upstream', async () => {
    const started = await startConsole({ config: open });
    const { shop, signIn } = started;
    const id = await lose(started, 'Hello');
    const ana = await signIn('ana');
    const { evidence, actions } = (await ana.get(`/operations/${id}`)).body;
    expect(actions).toEqual(['check_upstream', 'it_happened', 'it_did_not_happen']);
    expect(evidence).toMatchObject({
      sent: { state: 'maybe', at: expect.any(String) as string },
      key: { by: 'content' },
      last_response: { code: 'outcome_unknown' },
      audit: expect.arrayContaining([expect.objectContaining({ kind: 'send' })]) as unknown,
    });
    await expect
      .poll(async () => (await ana.get(`/operations/${id}`)).body['evidence'])
      .toMatchObject({
        process: { pid: process.pid, state: 'live' },
        calls: [{ operation_id: id, outcome: 'unknown' }],
      });

    const still = await act(ana, { action: 'check_upstream', operation_id: id });
    expect(still.body).toMatchObject({ settled: false, operation: { state: 'unknown' } });
    const readBack = async () => {
      const { evidence: found } = (await ana.get(`/operations/${id}`)).body;
      return (found as { readonly read_back: { readonly at: string } }).read_back;
    };
    const before = (await readBack()).at;
    // The same reason again, found at another time.
    const again = await act(ana, { action: 'check_upstream', operation_id: id });
    expect(again.body).toMatchObject({ settled: false, operation: { state: 'unknown' } });
    expect((await readBack()).at > before).toBe(true);
    shop.isReadable = true;
    const found = await act(ana, { action: 'check_upstream', operation_id: id });
    expect(found.body).toMatchObject({
      settled: true,
      operation: { state: 'reconciled', outcome: 'executed', answer: { data: { id: 'p1' } } },
    });
    const { rows } = (await ana.get('/audit/rows')).body;
    expect(rows).toContainEqual(
      expect.objectContaining({ kind: 'read_back_requested', actor: 'ana' }),
    );
  });

  it('are settled by a person, with the result or with a reason', async () => {
    const started = await startConsole({ config: open });
    const [first, second] = [await lose(started, 'one'), await lose(started, 'two')];
    const ana = await started.signIn('ana');
    const wrong = await ana.post('/preview', {
      action: 'it_happened',
      operation_id: first,
      data: { nr: 1 },
    });
    const refused = await ana.post('/actions', {
      action: 'it_happened',
      operation_id: first,
      data: { nr: 1 },
      version: wrong.body['version'],
    });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'refused' } } });
    const yes = { action: 'it_happened', operation_id: first, data: { id: 'p1' } };
    expect((await act(ana, yes)).body).toMatchObject({ operation: { outcome: 'executed' } });
    expect(await started.agent('shop_post', { text: 'one' })).toMatchObject({ data: { id: 'p1' } });

    const no = { action: 'it_did_not_happen', operation_id: second };
    expect((await ana.post('/preview', no)).body['refused']).toBe('A reason is required.');
    const reason = 'not on the page';
    const settled = await act(ana, { ...no, reason });
    expect(settled.body).toMatchObject({
      operation: { outcome: 'not_executed' },
      audit: { kind: 'reconciled', actor: 'ana', detail: { reason } },
    });
    expect(started.shop.posts).toEqual(['one', 'two']);
  });

  it('are exported for a time range, without formulas for spreadsheets', async () => {
    const started = await startConsole({ config: open });
    await started.agent('shop_post', { text: 'one', card: '4111' });
    const csv = await started.script.get('/operations/export?format=csv&since=1h');
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="operations.csv"');
    const text = String(csv.body['text']);
    expect(text.split('\r\n')).toHaveLength(3);
    expect(text).toContain('shop_post');
    const json = await started.script.get('/operations/export?since=1h');
    expect(json.body).toMatchObject({ tool: 'shop_post', arguments: { card: '[sensitive]' } });
    const none = await started.script.get('/operations/export?format=csv&until=2020-01-01');
    expect(String(none.body['text']).split('\r\n')).toHaveLength(2);
    expect((await started.script.get('/operations/export?format=xls')).status).toBe(400);
  });
});

describe('a tool of another process', () => {
  it('can be decided here, and the preview says what could not be checked', async () => {
    const started = await startConsole({ config: { ...composer, packs: { shop: {} } } });
    const id = await request(started);
    await started.close();
    // The same journal, served by a process that excludes the tool.
    const config = { ...composer, packs: { shop: { tools: { exclude: ['shop_post'] } } } };
    const { signIn, shop } = await startConsole({ dir: started.dir, config });
    const ana = await signIn('ana');
    const preview = (await ana.post('/preview', { action: 'approve', operation_id: id })).body;
    expect(preview['checks']).toContainEqual(
      expect.objectContaining({ by: 'policy', result: 'unknown' }),
    );
    expect(preview['checks']).toContainEqual(
      expect.objectContaining({ by: 'process', result: 'blocks' }),
    );
    const done = await act(ana, { action: 'approve', operation_id: id });
    expect(done.body['text']).toContain('No live process has the tool');
    expect(shop.posts).toEqual([]);
    const beside = await openBeside({ dir: started.dir, config: composer, shop });
    await beside.governance.ready();
    expect(beside.host.tools.map(({ name }) => name)).toContain('shop_post');
    const withdrawn = await act(ana, { action: 'withdraw', operation_id: id });
    expect(withdrawn.body['text']).toBe('Withdrawn. Nothing is sent.');
  });
});
