import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { answer, toolError, type Tool } from '@toolkeel/contract';
import type { PolicyConfig } from '@toolkeel/policy';
import { describe, expect, it } from 'vitest';
import { createHost } from '../host.js';
import { governed, packOf, shelf } from './governed.fixture.js';

const rule = (action: 'deny' | 'dry_run'): PolicyConfig => ({
  template: 'open',
  rules: [{ name: 'mine', when: { tool: 'put' }, action }],
});

/** A shelf that only accepts vases. Its check answers `where` itself. */
const choosy = () => {
  const { done, tools } = shelf();
  const check: Tool['check'] = ({ thing }) =>
    thing === 'where' ? answer({ n: 0 }) : thing === 'vase' ? undefined : noPlace();
  return { done, tools: tools.map((tool) => (tool.name === 'put' ? { ...tool, check } : tool)) };
};
const noPlace = () => toolError('internal_error', 'There is no place for it.');

describe('a host runs the check of a tool', () => {
  it.each(['deny', 'dry_run'] as const)('before its rules: %s', async (action) => {
    const { call, store, done } = await governed(choosy(), rule(action));
    const { error } = await call('put', { thing: 'cup' });
    expect(error).toMatchObject({ code: 'internal_error', outcome: 'not_executed' });
    expect(await store.list()).toEqual([]);
    expect(await store.auditRows(1, 10)).toEqual([]);
    const vase = await call('put', { thing: 'vase' });
    expect(vase.error?.code).toBe(action === 'deny' ? 'policy_denied_user_rule' : 'dry_run');
    expect(done).toEqual([]);
  });

  it('before its limits', async () => {
    const limits = { puts: { when: { tool: 'put' }, perDay: 1 } };
    const { call, done } = await governed(choosy(), { template: 'open', limits });
    for (const thing of ['cup', 'plate', 'where']) await call('put', { thing });
    expect(await call('put', { thing: 'vase' })).toMatchObject({ success: true });
    expect(await call('put', { thing: 'vase', allow_duplicate: true })).toMatchObject({
      error: { code: 'policy_denied_rate_limited' },
    });
    expect(done).toEqual(['vase']);
  });

  it('and returns its result, unless a rule denies the tool', async () => {
    const dryRun = await governed(choosy(), rule('dry_run'));
    expect(await dryRun.call('put', { thing: 'where' })).toMatchObject({ data: { n: 0 } });
    const denied = await governed(choosy(), rule('deny'));
    expect(await denied.call('put', { thing: 'where' })).toMatchObject({
      error: { code: 'policy_denied_user_rule' },
    });
  });

  it('also without a journal', async () => {
    const { done, tools } = choosy();
    const host = createHost({ packs: [{ pack: packOf(tools) }], profile: 'api' });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: 't', version: '1' });
    await Promise.all([host.connect(ours), client.connect(theirs)]);
    const put = async (thing: string) =>
      (await client.callTool({ name: 'put', arguments: { thing } })).structuredContent;
    expect(await put('cup')).toMatchObject({
      error: { code: 'internal_error', outcome: 'not_executed' },
    });
    expect(await put('vase')).toMatchObject({ success: true });
    expect(done).toEqual(['vase']);
  });

  it('and records the call without an operation', async () => {
    const { call, host, store } = await governed(choosy(), rule('deny'));
    await call('put', { thing: 'cup' });
    await host.close();
    const [row, ...others] = await store.calls();
    expect(row).toMatchObject({ tool: 'put', code: 'internal_error', account: 'adam' });
    expect(row).not.toHaveProperty('operationId');
    expect(others).toEqual([]);
  });
});

it('a tool whose pack cannot be created fails before its rules, and no operation is recorded', async () => {
  const { done, tools } = shelf();
  const create = () => Promise.reject(new Error('no such folder'));
  const packs = [{ pack: { ...packOf(tools), create } }];
  const { call, store, linesOf } = await governed({ done, tools }, rule('dry_run'), { packs });
  const { error } = await call('put', { thing: 'vase' });
  expect(error).toMatchObject({ code: 'internal_error', outcome: 'not_executed' });
  expect(await store.list()).toEqual([]);
  expect(linesOf('unexpected')).toHaveLength(1);
});
