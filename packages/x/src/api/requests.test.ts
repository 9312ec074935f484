import { raise, raisedToolError, toolError, withSendToken } from '@toolkeel/contract';
import { definePolicy, FaultError, presets, upstream } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import type { CallContext } from '../call-context.js';
import type { Send } from '../http/exchange.js';
import type { HttpResponse } from '../http/message.js';
import { createRequests } from './requests.js';
import { routes } from './routes.js';
import type { RequestContext, Session } from './session.js';

const answer: HttpResponse = { status: 200, doc: {}, limits: [], clockAheadMs: undefined };
const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });

interface Given {
  /** The result of each write. */
  readonly writes: readonly (() => Promise<HttpResponse>)[];
  /** Runs before each write, like the journal. */
  readonly record?: (attempt: number) => Promise<void>;
}

function rig({ writes, record = () => Promise.resolve() }: Given) {
  const clock = new VirtualClock();
  const policy = definePolicy({ ...presets.social, attemptTimeoutMs: 1_000 });
  let begun = 0;
  let recorded = 0;
  const session = {
    limitKey: () => 'route',
    renew: () => Promise.resolve(),
    explain: (_: unknown, fault: unknown) => fault,
    write: (_: unknown, __: RequestContext, send: Send) => send(async () => writes[begun++]!()),
  } as unknown as Session;
  const requests = createRequests({
    session,
    policy,
    upstream: upstream('x', policy),
    clock,
    random: () => 0,
    observe: () => undefined,
  });
  const call: CallContext = {
    deadline: 60_000,
    signal: new AbortController().signal,
    correlationId: 'c',
    noteRetry: () => undefined,
    send: async (write, { signal } = {}) => {
      await record(recorded++);
      if (signal?.aborted) throw new FaultError({ kind: 'cancelled', sent: 'no' });
      return withSendToken(1, write);
    },
  };
  const run = async (effect: 'once' | 'idempotent'): Promise<unknown> => {
    const request = { route: routes.createPost, path: ['2', 'tweets'] };
    const sent = requests[effect](request, call).catch((cause: unknown) => cause);
    const ended = await clock.run(sent);
    return ended instanceof FaultError ? ended.fault : (raisedToolError(ended)?.input ?? ended);
  };
  return { run, clock, begun: () => begun };
}

const refuse = () =>
  raise(toolError('db_error', 'The journal is not there.', { outcome: 'not_executed' }));
const fail = (cause: Error) => () => Promise.reject(cause);

describe('a write', () => {
  it('that failed after its first byte is not resent, even with the error of a refused connection', async () => {
    const tls = Object.assign(new Error('bad record mac'), { code: 'ERR_SSL_BAD_RECORD_MAC' });
    const { run, begun } = rig({ writes: [fail(tls), async () => answer] });
    expect(await run('once')).toMatchObject({ kind: 'connect', sent: 'maybe' });
    expect(begun()).toBe(1);
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
    const refused = new FaultError({ kind: 'rejected', sent: 'answered', status: 403 });
    const late = () =>
      new Promise<never>((_, reject) => clockOf.current!.setTimer(900, () => reject(refused)));
    const { run, clock, begun } = rig({ writes: [late], record });
    clockOf.current = clock;
    expect(await run('once')).toEqual(refused.fault);
    expect(begun()).toBe(1);
  });
});
