import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { latenessOf, lineWith, type LogLine, logLines } from './support/cap.js';
import { overHttp, overStdio, type Envelope } from './support/client.js';
import { bin, endAll, toolkeel } from './support/process.js';
import { startSilentServer, type SilentServer } from './support/silent-server.js';
import { stacCalls, writeStacConfig } from './support/stac.js';

const CAP_MS = 2000;
/** Measurements on a machine that is too busy are repeated. */
const MAX_TRIES = 5;
const probe = new URL('support/cap-probe.mjs', import.meta.url).href;
/** A newer Node has other timers, not other tools: one of a single request and one of several are repeated. */
const isRepeat = process.env['TOOLKEEL_TEST_MODE'] === 'runtime';
const tools = isRepeat ? ['get_item', 'search_federated'] : Object.keys(stacCalls);
const env = {
  TOOLKEEL_TOOL_TIMEOUT_SECS: String(CAP_MS / 1000),
  CAP_PROBE_MS: String(CAP_MS),
  // Otherwise a server would still write its journal while the next one is measured.
  TOOLKEEL_JOURNAL_URL: 'memory:',
};

let dir: string;
let upstream: SilentServer;

beforeAll(async () => {
  upstream = await startSilentServer();
  dir = mkdtempSync(join(tmpdir(), 'toolkeel-cap-'));
  const { url } = upstream;
  writeStacConfig(dir, { silent: { url }, second: { url: `${url}/second` } });
});

afterAll(async () => {
  await endAll();
  await upstream.close();
  rmSync(dir, { recursive: true, force: true });
});

const here = () => ({ cwd: dir, env: { ...env, TOOLKEEL_DATA_DIR: dir } });

describe('an unresponsive upstream', () => {
  interface MeasuredCall {
    readonly envelope: Envelope;
    readonly measured: LogLine;
    readonly lines: readonly LogLine[];
    readonly isAlive: boolean;
  }
  const calls = new Map<string, MeasuredCall>();

  /** The first call of a new server, which also loads the pack. */
  const callInFreshServer = async (tool: string): Promise<MeasuredCall> => {
    const command = [process.execPath, '--import', probe, bin] as const;
    const client = await overStdio(['stac'], here(), [...command]);
    const envelope = await client.call(tool, stacCalls[tool]);
    const measured = await lineWith('cap_probe', client.stderr);
    await lineWith('tool_call', client.stderr);
    const isAlive = (await client.tools()).includes(tool);
    await client.close();
    return { envelope, measured, lines: logLines(client.stderr()), isAlive };
  };

  /** Repeats only inconclusive measurements; a late result is final. */
  const callAndMeasure = async (tool: string, tries = MAX_TRIES): Promise<MeasuredCall> => {
    const result = await callInFreshServer(tool);
    const { verdict, text } = latenessOf(result.measured);
    if (verdict !== 'the machine was late' || tries === 1) return result;
    console.warn(`${tool} ${text}: measuring again.`);
    return callAndMeasure(tool, tries - 1);
  };

  beforeAll(async () => {
    // Two at a time: more would compete for two cores.
    const left = [...tools];
    const work = async (): Promise<void> => {
      for (let tool = left.shift(); tool !== undefined; tool = left.shift())
        calls.set(tool, await callAndMeasure(tool));
    };
    await Promise.all([work(), work()]);
  }, 180_000);

  it.each(tools)('%s returns timeout at the cap, and logs it once', (tool) => {
    const { envelope, measured, lines, isAlive } = calls.get(tool)!;
    expect(envelope).toMatchObject({
      success: false,
      error: { code: 'timeout', retryable: true, details: { clock: 'deadline' } },
    });
    expect(measured['answeredMs']).toBeGreaterThanOrEqual(CAP_MS - 2);
    const { verdict, text } = latenessOf(measured);
    expect(verdict, `${tool} ${text}`).toBe('in time');
    const { correlation_id: id } = envelope.meta as { correlation_id?: string };
    const ofCall = lines.filter((line) => line['correlation_id'] === id);
    expect(ofCall.filter((line) => line['event'] === 'timeout_abort')).toMatchObject([
      { level: 'warn', tool_name: tool, clock: 'deadline' },
    ]);
    expect(ofCall.at(-1)).toMatchObject({ event: 'tool_call', tool_name: tool, code: 'timeout' });
    expect(isAlive).toBe(true);
  });

  it('receives a connection from each of them', () => {
    expect(upstream.connections()).toBeGreaterThanOrEqual(tools.length);
  });
});

it('every tool counts one timeout, even with several requests', async () => {
  const run = toolkeel(['serve', 'stac', '--http', '127.0.0.1:0'], here());
  const [, url = ''] = await run.waitForOutput(/MCP at (\S+)/);
  const client = await overHttp(url);
  const answers = await Promise.all(tools.map((tool) => client.call(tool, stacCalls[tool])));
  expect(answers.map(({ error }) => error?.code)).toEqual(tools.map(() => 'timeout'));
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  const counted = metrics.split('\n').filter((line) => line.startsWith('timeouts_total'));
  expect(counted.toSorted()).toEqual(
    tools.map((tool) => `timeouts_total{tool_name="${tool}"} 1`).toSorted(),
  );
  await client.close();
  run.kill('SIGTERM');
  await run.ended;
  const aborts = logLines(run.err()).filter((line) => line['event'] === 'timeout_abort');
  expect(new Set(aborts.map((line) => line['tool_name']))).toEqual(new Set(tools));
  expect(new Set(aborts.map((line) => line['correlation_id'])).size).toBe(tools.length);
  expect(aborts).toHaveLength(tools.length);
});
