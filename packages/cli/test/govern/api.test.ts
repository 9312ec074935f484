import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lineWith } from '../support/cap.js';
import { overHttp, type Connected } from '../support/client.js';
import { useShop } from '../support/shop.js';

const { data, shop, configure, up } = useShop();
const httpToken = 'the-token-of-the-agent';
const env = { TOOLKEEL_HTTP_TOKEN: httpToken };
const order = { item: 'tea' };

interface Reply {
  readonly status: number;
  readonly body: {
    readonly error?: {
      readonly code: string;
      readonly message: string;
      readonly what_to_do: string;
    };
    readonly operation?: { readonly id: string; readonly approval?: { readonly hash: string } };
    readonly [name: string]: unknown;
  };
}

/** A server, the agent's client, and an operator's HTTP client. */
const startAll = async () => {
  configure({ profile: 'workflow' });
  const server = await up(env);
  const agent = await overHttp(`${server.url}/mcp`, { authorization: `Bearer ${httpToken}` });
  const token = readFileSync(data('console.token'), 'utf8').trim();
  const request = async (
    path: string,
    body?: unknown,
    given?: Record<string, string>,
  ): Promise<Reply> => {
    const headers = given ?? { authorization: `Bearer ${token}` };
    const sent = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(`${server.url}/api${path}`, {
      headers: { ...sent, ...headers },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  };
  return { server, agent, token, request };
};

const requestApproval = async (agent: Connected, args: object = order): Promise<string> =>
  (await agent.call('shop_order', { ...args })).error?.operation_id ?? '';

describe('the operator API', () => {
  it('lists and decides approvals, and records the operator', async () => {
    const { server, agent, request } = await startAll();
    const id = await requestApproval(agent);
    const { body } = await request('/approvals');
    expect(body['approvals']).toMatchObject([{ id, arguments: { item: 'tea', price: 1 } }]);
    const one = (await request(`/approvals/${id}`)).body['approval'] as {
      approval: { hash: string };
    };
    const { hash } = one.approval;
    const edited = await request(`/approvals/${id}/edit`, {
      hash,
      changes: { item: 'jam' },
      by: 'ana',
    });
    const next = edited.body.operation?.approval?.hash ?? '';
    expect(await request(`/approvals/${id}/approve`, { hash })).toMatchObject({
      status: 409,
      body: { error: { code: 'changed' }, operation: { id } },
    });
    const both = await Promise.all(
      ['ana', 'ben'].map((by) => request(`/approvals/${id}/approve`, { hash: next, by })),
    );
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    await expect.poll(() => shop().effects, { timeout: 30_000 }).toEqual(['order jam']);
    const line = await lineWith('approval_decided', server.err);
    expect(line).toMatchObject({ operation_id: id, result: 'approved' });
    expect(line['correlation_id']).toEqual(expect.any(String));
    expect(['ana', 'ben']).toContain(line['by']);

    const refused = await requestApproval(agent, { item: 'gin' });
    const view = (await request(`/operations/${refused}`)).body.operation;
    const no = { hash: view?.approval?.hash ?? '', reason: 'no gin' };
    expect((await request(`/approvals/${refused}/reject`, no)).status).toBe(200);
    expect(await agent.call('shop_order', { item: 'gin' })).toMatchObject({
      error: { code: 'approval_denied', details: { reason: 'no gin' } },
    });
    expect(await request('/operations?state=denied')).toMatchObject({
      body: { operations: [{ id: refused, approval: { decided_by: 'console' } }] },
    });
    await expect
      .poll(async () => ((await request('/calls?limit=5')).body['calls'] as unknown[]).length, {
        timeout: 30_000,
      })
      .toBeGreaterThan(2);
    expect((await request('/audit/head')).body['head']).toMatchObject({ seq: expect.any(Number) });
    await agent.close();
  });

  it('resolves an unknown operation', async () => {
    const { agent, request } = await startAll();
    const id = await requestApproval(agent);
    shop().next('commit and break');
    const { hash } = (await request(`/operations/${id}`)).body.operation?.approval ?? { hash: '' };
    await request(`/approvals/${id}/approve`, { hash });
    await expect
      .poll(async () => (await request('/operations?state=unknown')).body['operations'], {
        timeout: 30_000,
      })
      .toMatchObject([{ id }]);
    const wrong = { outcome: 'executed', data: { nonsense: 1 } };
    expect(await request(`/operations/${id}/resolve`, wrong)).toMatchObject({ status: 409 });
    const right = { outcome: 'executed', data: { id: 'e1' }, by: 'ana', reason: 'seen' };
    expect(await request(`/operations/${id}/resolve`, right)).toMatchObject({
      status: 200,
      body: { operation: { state: 'reconciled', outcome: 'executed' } },
    });
    expect(await agent.call('shop_order', order)).toMatchObject({ data: { id: 'e1' } });
    expect(shop().effects).toEqual(['order tea']);
    await agent.close();
  });

  it('accepts only its own token, which gives access to nothing else', async () => {
    const { server, agent, token, request } = await startAll();
    const id = await requestApproval(agent);
    const invalidHeaders: Record<string, string>[] = [
      {},
      { authorization: `Bearer ${httpToken}` },
      { authorization: `Basic ${token}` },
      { authorization: `Bearer ${token}x` },
      { cookie: `token=${token}` },
    ];
    for (const headers of invalidHeaders) {
      expect(await request('/approvals', undefined, headers)).toMatchObject({
        status: 401,
        body: { error: { what_to_do: expect.stringContaining('console.token') } },
      });
      expect((await request(`/approvals/${id}/approve`, { hash: 'x' }, headers)).status).toBe(401);
    }
    for (const path of ['/mcp', '/metrics']) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      expect((await fetch(`${server.url}${path}`, { method: 'POST', headers })).status).toBe(401);
    }
    const odd = await fetch(`${server.url}/%61pi/approvals`);
    expect(odd.status).toBe(401);
    expect(statSync(data('console.token')).mode & 0o777).toBe(0o600);
    expect(server.out() + server.err()).not.toContain(token);
    await agent.close();
  });

  it('refuses foreign origins and forms, and explains invalid requests', async () => {
    const { server, agent, token, request } = await startAll();
    const id = await requestApproval(agent);
    const authorization = `Bearer ${token}`;
    const foreign = { authorization, origin: 'https://evil.example' };
    expect((await request('/approvals', undefined, foreign)).status).toBe(403);
    const form = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await request(`/approvals/${id}/approve`, { hash: 'x' }, form)).status).toBe(415);
    const big = { hash: 'x', reason: 'a'.repeat(300_000) };
    const wrong: [string, unknown, number, RegExp][] = [
      [`/approvals/${id}/approve`, {}, 400, /hash/],
      [`/approvals/${id}/approve`, { hash: 'x', by: '\u001b[2J' }, 400, /by/],
      [`/approvals/${id}/approve`, { hash: 'x', force: true }, 400, /force/],
      [`/approvals/${id}/approve`, { hash: 'x' }, 409, /not the hash/],
      [`/approvals/${id}/approve`, big, 413, /bytes/],
      [`/approvals/${id}/edit`, { hash: 'x', changes: { item: 7 } }, 409, /item/],
      [`/operations/${id}/resolve`, { outcome: 'executed' }, 409, /awaiting_approval/],
      [`/operations/${id}/resolve`, { outcome: 'maybe' }, 400, /outcome/],
      ['/approvals/op_none/approve', { hash: 'x' }, 404, /no such operation/],
      ['/operations/op_none', undefined, 404, /no such operation/],
      ['/operations?state=wating', undefined, 400, /no state/],
      ['/operations?since=tomorrow', undefined, 400, /since/],
      ['/calls?limit=0', undefined, 400, /limit/],
    ];
    for (const [path, body, status, message] of wrong) {
      const reply = await request(path, body);
      expect({ path, status: reply.status }).toEqual({ path, status });
      expect(reply.body.error?.message).toMatch(message);
      expect(reply.body.error?.what_to_do).toBeTruthy();
    }
    const raw = await fetch(`${server.url}/api/approvals/${id}/approve`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"hash":',
    });
    expect(raw.status).toBe(400);
    expect((await request('/nothing')).status).toBe(404);
    expect(shop().effects).toEqual([]);
    await agent.close();
  });
});
