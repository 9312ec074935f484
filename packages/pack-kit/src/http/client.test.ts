import { Readable } from 'node:stream';
import { raise, raisedToolError, toolError, withSendToken } from '@toolkeel/contract';
import { definePolicy, FaultError, presets } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import { createHttpClient, type WriteContext } from './client.js';
import type { Connections } from './connections.js';

const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });

interface Given {
  /** The result of each write. */
  readonly writes: readonly (() => Promise<unknown>)[];
  /** Runs before each write, like the journal. */
  readonly record?: (attempt: number) => Promise<void>;
  /** The result of each connect. Default: all succeed. */
  readonly connects?: readonly (() => Promise<void>)[];
  readonly retryUnsent?: boolean;
}

function rig({ writes, record = () => Promise.resolve(), connects = [], retryUnsent }: Given) {
  const clock = new VirtualClock();
  const policy = definePolicy({ ...presets.social, attemptTimeoutMs: 1_000 });
  let begun = 0;
  let recorded = 0;
  let opened = 0;
  const request = () => writes[begun++]!();
  const connections = {
    open: async () => {
      await connects[opened++]?.();
      return { request, destroy: () => undefined };
    },
  } as unknown as Connections;
  const client = createHttpClient({
    name: 'test',
    policy,
    deps: { now: () => clock.now(), random: () => 0, observe: () => undefined },
    clock,
    connections,
    trusted: ['https://x.test'],
  });
  const call: WriteContext = {
    deadline: 60_000,
    signal: new AbortController().signal,
    correlationId: 'c',
    retryUnsent,
    send: async (write, { signal } = {}) => {
      await record(recorded++);
      if (signal?.aborted) throw new FaultError({ kind: 'cancelled', sent: 'no' });
      return withSendToken(1, write);
    },
  };
  const run = async (effect: 'once' | 'idempotent'): Promise<unknown> => {
    const sent = client[effect]({ method: 'POST', url: new URL('https://x.test/posts') }, call);
    const ended = await clock.run(sent.catch((cause: unknown) => cause));
    return ended instanceof FaultError ? ended.fault : (raisedToolError(ended)?.input ?? ended);
  };
  return { run, clock, begun: () => begun, opened: () => opened };
}

const answer = (statusCode: number) => () =>
  Promise.resolve({ statusCode, headers: {}, body: Readable.from([Buffer.from('{}')]) });
const refuse = () =>
  raise(toolError('db_error', 'The journal is not there.', { outcome: 'not_executed' }));
const fail = (cause: Error) => (): Promise<never> => Promise.reject(cause);

describe('a write', () => {
  it('that failed after its first byte is not resent, even with the error of a refused connection', async () => {
    const tls = Object.assign(new Error('bad record mac'), { code: 'ERR_SSL_BAD_RECORD_MAC' });
    const { run, begun } = rig({ writes: [fail(tls), answer(200)] });
    expect(await run('once')).toMatchObject({ kind: 'connect', sent: 'maybe' });
    expect(begun()).toBe(1);
  });

  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

  it('that was not sent was retried although its tool did not opt in', async () => {
    const { run, opened } = rig({ writes: [answer(200)], connects: [fail(refused)] });
    expect(await run('once')).toMatchObject({ kind: 'connect', sent: 'no' });
    expect(opened()).toBe(1);
  });

  it('that was not sent is retried if its tool opts in', async () => {
    const connects = [fail(refused)];
    const { run, begun } = rig({ writes: [answer(200)], connects, retryUnsent: true });
    expect(await run('once')).toMatchObject({ status: 200 });
    expect(begun()).toBe(1);
  });

  it('that is idempotent is retried if it was not sent, without opting in', async () => {
    const { run } = rig({ writes: [answer(200)], connects: [fail(refused)] });
    expect(await run('idempotent')).toMatchObject({ status: 200 });
  });

  it('that is idempotent is resent after a reset', async () => {
    const { run, begun } = rig({ writes: [fail(reset), answer(200)] });
    expect(await run('idempotent')).toMatchObject({ status: 200, json: {} });
    expect(begun()).toBe(2);
  });

  it('that the journal refuses fails with the error of the journal', async () => {
    const { run, begun } = rig({ writes: [], record: async () => refuse() });
    expect(await run('once')).toMatchObject({ code: 'db_error', outcome: 'not_executed' });
    expect(begun()).toBe(0);
  });

  it('that may have executed before the journal refused a retry stays unknown', async () => {
    const record = async (attempt: number) => (attempt > 0 ? refuse() : undefined);
    const { run, begun } = rig({ writes: [fail(reset)], record });
    expect(await run('idempotent')).toMatchObject({ kind: 'network', sent: 'maybe' });
    expect(begun()).toBe(1);
  });

  it('whose first attempt was abandoned while it was recorded ends like the second one', async () => {
    const clockOf: { current?: VirtualClock } = {};
    const record = async (attempt: number) => {
      if (attempt > 0) return;
      await new Promise<void>((resolve) => clockOf.current!.setTimer(1_500, resolve));
    };
    const late = () =>
      new Promise<unknown>((resolve) =>
        clockOf.current!.setTimer(900, () => void answer(403)().then(resolve)),
      );
    const { run, clock, begun } = rig({ writes: [late], record, retryUnsent: true });
    clockOf.current = clock;
    expect(await run('once')).toMatchObject({ kind: 'rejected', sent: 'answered', status: 403 });
    expect(begun()).toBe(1);
  });
});
