import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { TextModelError } from '@toolkeel/contract';
import { llmAdapters, presets } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import type { Model, ModelOptions, Timeouts } from '@toolkeel/llm';
import type { FaultKind, LlmSandbox } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { runningChildren } from '../src/claude/children.js';
import { ask, claudeOf, geminiOf, sandboxOf } from './support/rig.js';
import { WatchedClock } from './support/watched-clock.js';

type Provider = 'gemini' | 'claude';

const modelOf = (provider: Provider, sandbox: LlmSandbox, options: ModelOptions): Model =>
  provider === 'gemini' ? geminiOf(sandbox, options) : claudeOf(sandbox, options);

interface Row {
  readonly provider: Provider;
  readonly clock: string;
  readonly phase: string;
  readonly setting: keyof Timeouts | 'deadline';
  readonly fault: FaultKind | 'no-handshake';
  readonly route?: string;
  /** An idle clock starts again with each content; others when they are set. */
  readonly isIdle?: true;
}

const row = (
  provider: Provider,
  clock: string,
  phase: string,
  setting: Row['setting'],
  fault: Row['fault'],
  rest: Partial<Row> = {},
): Row => ({ provider, clock, phase, setting, fault, ...rest });

const messages = { route: 'messages' } as const;
const idle = { isIdle: true } as const;

const table: readonly Row[] = [
  row('gemini', 'connect', 'connect', 'connectMs', 'no-handshake'),
  row('gemini', 'headers', 'headers', 'headersMs', 'stall'),
  row('gemini', 'first_content', 'first_content', 'firstContentMs', 'llm-comments-only'),
  row('gemini', 'byte_idle', 'stream', 'byteIdleMs', 'llm-stall-mid-stream', idle),
  row('gemini', 'content_idle', 'stream', 'contentIdleMs', 'llm-comments-mid-stream', idle),
  row('gemini', 'total', 'stream', 'totalMs', 'llm-comments-mid-stream'),
  row('gemini', 'deadline', 'stream', 'deadline', 'llm-comments-mid-stream'),
  row('claude', 'connect', 'connect', 'connectMs', 'cli-no-start', { route: 'cli' }),
  row('claude', 'headers', 'headers', 'headersMs', 'stall', messages),
  row('claude', 'first_content', 'first_content', 'firstContentMs', 'llm-comments-only', messages),
  row('claude', 'byte_idle', 'stream', 'byteIdleMs', 'llm-stall-mid-stream', {
    ...messages,
    ...idle,
  }),
  row('claude', 'content_idle', 'stream', 'contentIdleMs', 'cli-deaf', { route: 'cli', ...idle }),
  row('claude', 'total', 'connect', 'totalMs', 'cli-no-start', { route: 'cli' }),
  row('claude', 'deadline', 'connect', 'deadline', 'cli-no-start', { route: 'cli' }),
];

const title = ({ provider, clock }: Row): string => `${provider}: ${clock}`;

/** A port that accepts connections and never answers: the TLS handshake of a client waits for ever. */
async function silentPort(): Promise<{
  readonly url: string;
  readonly connections: () => number;
  readonly close: () => void;
}> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    connections: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const SCALED_MS = 300;
const MAX_LATENESS_MS = 100;
const BUSY_MS = 20;

/** One request with this clock at 300 ms and the others off: its error, and how late the answer was. */
async function measure({ provider, setting, fault, route, isIdle }: Row) {
  const sandbox = await sandboxOf();
  const silent = fault === 'no-handshake' ? await silentPort() : undefined;
  const clock = new WatchedClock(SCALED_MS);
  const none = { connectMs: null, headersMs: null, firstContentMs: null, byteIdleMs: null };
  const timeouts = { ...none, contentIdleMs: null, totalMs: null };
  const model = modelOf(provider, sandbox, {
    clock,
    policy: { maxRetries: 0 },
    timeouts: setting === 'deadline' ? timeouts : { ...timeouts, [setting]: SCALED_MS },
    ...(silent && { baseUrl: silent.url }),
  });
  if (!silent) {
    if (setting !== 'totalMs' && setting !== 'connectMs') await warmUp(model);
    sandbox.setFaults([{ kind: fault as FaultKind, ...(route && { routes: [route] }) }]);
  }
  const deadline = setting === 'deadline' ? { deadline: performance.now() + SCALED_MS } : {};
  if (setting === 'deadline') clock.startControl();
  let error: TextModelError | undefined;
  let answeredAt = 0;
  for await (const event of model.stream(ask(), deadline)) {
    if (event.type === 'content' && isIdle) clock.startControl();
    if (event.type === 'error') {
      answeredAt = performance.now();
      error = event.error;
    }
  }
  await expect.poll(() => clock.firedAt).toBeTypeOf('number');
  const lateMs = answeredAt - (clock.firedAt ?? 0);
  await expect.poll(runningChildren, { timeout: 15_000 }).toEqual([]);
  await expect.poll(() => clock.armed).toBe(0);
  // The connection of the abandoned request is closed.
  await expect.poll(() => sandbox.log().filter(({ outcome }) => outcome === 'pending')).toEqual([]);
  silent?.close();
  return { error, lateMs, controlLateMs: clock.controlLateMs };
}

/** Loads the SDK, so that the measured request does not. */
async function warmUp(model: Model): Promise<void> {
  await model.complete(ask()).catch(() => undefined);
}

describe('in real time, with clocks of 300 ms', () => {
  it.for(table.map((one) => [title(one), one] as const))(
    '%s fires with the control timer and leaves nothing behind',
    async ([, one]) => {
      let found = await measure(one);
      // A measurement counts unless the machine was too busy for the bare timer too.
      for (let tries = 1; tries < 5 && found.controlLateMs > BUSY_MS; tries++) {
        if (found.lateMs <= MAX_LATENESS_MS) break;
        found = await measure(one);
      }
      const { clock, phase } = one;
      expect(found.error).toMatchObject({ code: 'timeout', clock, phase, attempts: 1 });
      expect(found.lateMs).toBeLessThanOrEqual(MAX_LATENESS_MS);
    },
  );
});

/** The defaults: what the documentation and the presets say. */
const defaults: readonly (readonly [Row, number])[] = [
  [row('gemini', 'headers', 'headers', 'headersMs', 'stall'), 90_000],
  [row('gemini', 'first_content', 'first_content', 'firstContentMs', 'llm-comments-only'), 120_000],
  [row('gemini', 'byte_idle', 'stream', 'byteIdleMs', 'llm-stall-mid-stream'), 90_000],
  [row('gemini', 'content_idle', 'stream', 'contentIdleMs', 'llm-comments-mid-stream'), 120_000],
  [row('claude', 'connect', 'connect', 'connectMs', 'cli-no-start', { route: 'cli' }), 30_000],
  [row('claude', 'total', 'headers', 'totalMs', 'stall', messages), 120_000],
  [row('claude', 'total', 'stream', 'totalMs', 'llm-comments-mid-stream', messages), 120_000],
];

describe('in virtual time, with the real values', () => {
  it.for(
    defaults.map(([one, ms]) => [`${title(one)} after ${ms} ms, ${one.phase}`, one, ms] as const),
  )('%s', async ([, { provider, clock: name, phase, fault, route }, ms]) => {
    const clock = new VirtualClock();
    const rule = { kind: fault as FaultKind, ...(route && { routes: [route] }) };
    const sandbox = await sandboxOf({ faults: [rule] });
    const model = modelOf(provider, sandbox, { clock, policy: { maxRetries: 0 } });
    let error: TextModelError | undefined;
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of model.stream(ask())) {
        seen.push(event.type);
        if (event.type === 'error') error = event.error;
      }
    })();
    await reached(phase, seen, sandbox, provider);
    await keepAlive(clock, ms - 1);
    expect(error).toBeUndefined();
    // Each advance runs what is due; bytes that arrive in between postpone only the idle clock.
    await clock.advance(2);
    await reading;
    expect(error).toMatchObject({ clock: name, phase, code: 'timeout' });
  });

  it('gemini: connect after 10000 ms, connect', async () => {
    const clock = new VirtualClock();
    const silent = await silentPort();
    const model = geminiOf(await sandboxOf(), {
      clock,
      baseUrl: silent.url,
      policy: { maxRetries: 0 },
    });
    let error: TextModelError | undefined;
    const failing = model.complete(ask()).catch((cause: unknown) => {
      error = cause as TextModelError;
    });
    await expect.poll(silent.connections).toBe(1);
    await clock.advance(9_999);
    expect(error).toBeUndefined();
    await clock.advance(1);
    await failing;
    silent.close();
    expect(error).toMatchObject({ clock: 'connect', phase: 'connect', code: 'timeout' });
  });

  it('the presets hold the two numbers of the decision record', () => {
    expect(llmAdapters.claude.attemptTimeoutMs).toBe(120_000);
    expect(llmAdapters.gemini.idleTimeoutMs).toBe(90_000);
    expect(presets.llm).toMatchObject({ maxRetries: 2, callTimeoutMs: 300_000 });
  });
});

/** Waits, in real time, until the request is where the clock of this phase runs. */
async function reached(
  phase: string,
  seen: readonly string[],
  sandbox: LlmSandbox,
  provider: Provider,
): Promise<void> {
  const route = provider === 'gemini' ? 'gemini-stream' : phase === 'connect' ? 'cli' : 'messages';
  await expect.poll(() => sandbox.log({ route }).length).toBe(1);
  if (phase === 'first_content') await expect.poll(() => seen.includes('start')).toBe(true);
  if (phase === 'stream') await expect.poll(() => seen.includes('content')).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 50));
}

/**
 * Advances in steps with real time in between, so that keep-alive bytes arrive as they would. Small steps:
 * a busy machine may delay the bytes of several of them.
 */
async function keepAlive(clock: VirtualClock, ms: number): Promise<void> {
  const step = 10_000;
  for (let done = 0; done < ms; done += step) {
    await clock.advance(Math.min(step, ms - done));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
