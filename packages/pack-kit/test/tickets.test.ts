import { readFileSync } from 'node:fs';
import {
  createPackRig,
  faultMatrix,
  fuzzTools,
  observeCodes,
  recordingJournal,
  startScriptedUpstream,
  upstreamFaults,
  type Handler,
  type PackRig,
  type ScriptedUpstream,
  type UpstreamFault,
} from '@toolkeel/pack-kit/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pack as tickets } from '../src/readme.fixture.js';

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

const closing: (() => Promise<void>)[] = [];
beforeEach(() => {
  vi.stubEnv('TICKETS_TOKEN', 'secret-token-1');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0).toReversed()) await close();
});

const startPack = (upstream: ScriptedUpstream, fault?: UpstreamFault): Promise<PackRig> =>
  createPackRig(tickets, {
    baseUrl: upstream.origin,
    token: { env: 'TICKETS_TOKEN' },
    maxRetries: 1,
    ...(fault?.kind === 'timeout' && { toolTimeoutSecs: 3, attemptTimeoutSecs: 0.5 }),
  });

const serve = async (handler: Handler, sends?: readonly unknown[]) => {
  const upstream = await startScriptedUpstream(handler, sends ? { sends } : {});
  const rig = await startPack(upstream);
  closing.push(upstream.close, rig.close);
  return { upstream, rig };
};

const made = { id: '7', title: 'a' };
const healthy: Handler = ({ method }) => ({ json: method === 'POST' ? made : [made] });

describe('the pack of README.md', () => {
  it('is the example', () => {
    const example = textOf('../src/readme.fixture.ts');
    expect(textOf('../README.md')).toContain(`\`\`\`ts\n${example}\`\`\`\n`);
    const tests = textOf('readme.test.ts').replace('../src/readme.fixture.js', './tickets.js');
    expect(textOf('../README.md')).toContain(`\`\`\`ts\n${tests}\`\`\`\n`);
  });

  it('reads on a pooled connection and writes on a new one, after the journal', async () => {
    const journal = recordingJournal();
    const { upstream, rig } = await serve(healthy, journal.sends);
    for (let read = 0; read < 20; read++) await rig.data('list_tickets');
    const { middleware } = journal;
    expect(await rig.data('create_ticket', { title: 'a' }, { middleware })).toEqual(made);
    const [first, ...others] = upstream.requests;
    const write = others.pop();
    const pooled = new Set([first, ...others].map((request) => request?.connection));
    expect(pooled.size).toBeLessThan(5);
    expect(pooled).not.toContain(write?.connection);
    expect(first).toMatchObject({ method: 'GET', sendsBefore: 0 });
    expect(write).toMatchObject({ method: 'POST', sendsBefore: 1, json: { title: 'a' } });
    expect(write?.headers).toMatchObject({
      authorization: 'Bearer secret-token-1',
      connection: 'close',
      'content-type': 'application/json',
    });
  });

  it('does not send what the journal refuses', async () => {
    const journal = recordingJournal();
    journal.refuse = () => {
      throw new Error('The lease is lost.');
    };
    const { upstream, rig } = await serve(healthy, journal.sends);
    const { middleware } = journal;
    await expect(rig.run('create_ticket', { title: 'a' }, { middleware })).rejects.toThrow('lease');
    expect(upstream.requests).toEqual([]);
  });

  it('does not connect again for a write whose tool does not opt in', async () => {
    const { upstream, rig } = await serve(healthy);
    await upstream.close();
    const retries = async (tool: string, args = {}) => (await rig.run(tool, args)).meta.retry_count;
    expect(await retries('list_tickets')).toBe(1);
    expect(await retries('create_ticket', { title: 'a' })).toBe(0);
  });

  it('answers without the credential that its upstream repeats', async () => {
    const { rig } = await serve(({ headers }) => ({
      json: [{ id: '1', title: String(headers.authorization) }],
    }));
    const envelope = await rig.run('list_tickets');
    expect(envelope.success).toBe(true);
    expect(JSON.stringify(envelope)).not.toContain('secret-token-1');
  });

  it('reports its health', async () => {
    const { rig, upstream } = await serve(healthy);
    const checks = await Promise.all([rig.instance.health(), rig.instance.health()]);
    expect(checks).toEqual([
      { ok: true, detail: 'answers' },
      { ok: true, detail: 'answers' },
    ]);
    expect(upstream.requests).toHaveLength(1);
    await upstream.close();
    expect(await rig.instance.health()).toEqual({
      ok: false,
      detail: 'The upstream is unavailable. Try again later. (ECONNREFUSED)',
    });
  });
});

describe('the test kit', () => {
  it('passes generated arguments to every tool', async () => {
    const { upstream, rig } = await serve(healthy);
    await expect(fuzzTools({ rig, upstream, runs: 60 })).resolves.toBeUndefined();
    expect(upstream.requests.length).toBeGreaterThan(0);
  });

  it('finds a code that a tool does not declare', async () => {
    const { upstream, rig } = await serve(() => ({ status: 200, json: made }));
    const instance = {
      ...rig.instance,
      tools: rig.instance.tools.map((tool) => ({ ...tool, possibleCodes: [] })),
    };
    const failing = fuzzTools({ rig: { ...rig, instance }, upstream, runs: 60 });
    await expect(failing).rejects.toThrow('upstream_unavailable');
  });

  const options = {
    specs: tickets.describe(),
    argumentsOf: (tool: string) => (tool === 'create_ticket' ? { title: 'a' } : {}),
    maxRetries: 1,
  };

  it('repeats reads only, and knows the outcome of a write', async () => {
    const faults = upstreamFaults.filter(({ name }) => name === 'reset');
    expect(await faultMatrix({ ...options, start: startPack, faults })).toMatchObject([
      { tool: 'list_tickets', attempts: 2, retryable: true },
      { tool: 'create_ticket', attempts: 1, outcome: 'unknown', retryable: false },
    ]);
  });

  it('finds a wrong code, an undeclared one and one that never occurs', async () => {
    const wrong = faultMatrix({
      ...options,
      faults: upstreamFaults.filter(({ name }) => name === '404'),
      start: startPack,
      codeOf: () => 'forbidden',
    });
    await expect(wrong).rejects.toThrow('forbidden');
    const observed = observeCodes(tickets.describe());
    expect(observed.verify).toThrow('circuit_open');
    observed.note('list_tickets', 'db_error');
    expect(observed.verify).toThrow('db_error');
    expect(() => observed.note('list_tickets', 'not_found', 'forbidden')).toThrow('forbidden');
  });
});
