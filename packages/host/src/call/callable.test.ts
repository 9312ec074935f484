import { defineTool, type Tool } from '@toolkeel/contract';
import { createJournal, memoryStore, ephemeralEncryption, type Decide } from '@toolkeel/journal';
import { executeWithRetry, FaultError, withResilience, type KernelEvent } from '@toolkeel/kernel';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createHost, type HostOptions } from '../host.js';

const policy = { maxRetries: 2, initialBackoffMs: 1, maxBackoffMs: 1 };

/** Fails twice, then succeeds. */
const flaky = () => {
  let attempts = 0;
  return (): string => {
    attempts += 1;
    if (attempts < 3) throw new FaultError({ kind: 'server', sent: 'answered', status: 503 });
    return 'ok';
  };
};

const tool = (handler: Tool['handler'], over: object = {}): Tool =>
  defineTool({
    name: 'load',
    description: 'Loads.',
    title: 'Load',
    category: 'read',
    effect: 'read',
    profiles: ['readonly', 'api', 'workflow'],
    input: z.object({}),
    output: z.unknown(),
    errors: [],
    handler,
    ...over,
  } as never);

interface Answer {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly error?: { readonly operation_id?: string };
}

const connect = async (options: HostOptions) => {
  const lines: Record<string, unknown>[] = [];
  const host = createHost({
    log: (_level, event, fields) => void lines.push({ event, ...fields }),
    ...options,
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 't', version: '1' });
  await Promise.all([host.connect(ours), client.connect(theirs)]);
  const call = async (): Promise<Answer> =>
    (await client.callTool({ name: 'load', arguments: {} })).structuredContent as never;
  return { host, call, lines };
};

describe('a tool without a pack', () => {
  const load = (listener?: (event: KernelEvent) => void) =>
    withResilience(flaky(), policy, { effect: 'read', ...(listener && { listener }) });
  const lateBound: { observe: (event: KernelEvent) => void } = { observe: () => {} };

  it.each<[string, () => Tool['handler']]>([
    [
      'calls a resilient function',
      () => {
        const guarded = load();
        return () => guarded();
      },
    ],
    [
      'calls it asynchronously, with its context',
      () => {
        const guarded = load();
        return async (_, context) => {
          await new Promise((resolve) => setImmediate(resolve));
          return guarded.outcome(undefined, context).then(() => 'ok');
        };
      },
    ],
    [
      'also passes the events to the host',
      () => {
        const guarded = load((event) => lateBound.observe(event));
        return (_, context) => guarded(undefined, context);
      },
    ],
    [
      'also notes the retries itself',
      () => {
        const work = flaky();
        const retries = { note: () => {} };
        const guarded = withResilience(
          (_: undefined, { index }) => {
            if (index > 0) retries.note();
            return work();
          },
          policy,
          { effect: 'read' },
        );
        return (_, { noteRetry }) => {
          retries.note = noteRetry;
          return guarded();
        };
      },
    ],
    [
      'uses executeWithRetry',
      () => {
        const work = flaky();
        return () => executeWithRetry(work, policy);
      },
    ],
  ])('that %s has its retries and attempts counted once', async (_, handlerOf) => {
    const { host, call, lines } = await connect({ tools: [tool(handlerOf())] });
    lateBound.observe = host.observe;
    const { meta } = await call();
    expect(meta).toMatchObject({ retry_count: 2 });
    const { text } = await host.metrics();
    expect(text).toMatch(/^toolkeel_attempts_total\{tool_name="load",upstream="\w*"\} 3$/m);
    expect(text).toContain('retries_attempted_total{tool_name="load"} 2');
    const retries = lines.filter(({ event }) => event === 'retry_attempt');
    expect(retries).toHaveLength(2);
    expect(retries[0]).toMatchObject({ correlation_id: meta['correlation_id'] });
    await host.close();
  });

  it('counts calls separately, although they share a resilient function', async () => {
    let attempts = 0;
    const guarded = withResilience(
      async (fails: number, { index }) => {
        attempts += 1;
        await new Promise((resolve) => setImmediate(resolve));
        if (index < fails) throw new FaultError({ kind: 'server', sent: 'answered', status: 503 });
        return index;
      },
      policy,
      { effect: 'read' },
    );
    const { host, call } = await connect({ tools: [tool(() => guarded(attempts === 0 ? 1 : 2))] });
    const counts = (await Promise.all([call(), call()])).map(({ meta }) => meta['retry_count']);
    expect(counts).toEqual([1, 2]);
    await host.close();
  });

  it('that was approved has its attempts in the record of the call', async () => {
    const ask = { kind: 'approve', rule: 'r', explanation: 'Ask.', expiresInMs: 60_000 } as const;
    const decide: Decide = (_, { approved }) => (approved ? { kind: 'allow', limits: [] } : ask);
    const store = memoryStore();
    const guarded = withResilience(flaky(), policy, { effect: 'idempotent' });
    const write = { effect: 'idempotent', window: 1000, profiles: ['api', 'workflow'] };
    const { host, call } = await connect({
      tools: [tool(() => guarded(), write)],
      profile: 'api',
      journal: (deps) =>
        createJournal({ store, encryption: ephemeralEncryption(), decide, ...deps }),
    });
    const id = (await call()).error?.operation_id ?? '';
    const approval = (await store.get(id))?.approval;
    const by = { decision: 'approved', hash: approval?.hash ?? '', by: 'ana', holdMs: 0 } as const;
    await store.decideApproval(id, by);
    await expect.poll(async () => (await store.get(id))?.state).toBe('succeeded');
    await host.close();
    const rows = (await store.calls()).filter(({ code }) => code === 'ok');
    expect(rows).toMatchObject([{ tool: 'load', operationId: id, attempts: 3 }]);
  });
});
