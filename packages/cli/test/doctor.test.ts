import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startStacSandbox, type StacSandbox } from '@toolkeel/sandbox';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { run } from '../src/run.js';
import { fakeRuntime, useTempDir } from '../src/runtime.fixture.js';

const dir = useTempDir();
const secret = 'secret-of-the-upstream';
let upstream: StacSandbox;

beforeAll(async () => {
  upstream = await startStacSandbox({
    scale: 0.1,
    requiredHeader: { name: 'X-Api-Key', value: secret },
  });
});

afterAll(() => upstream.close());
afterEach(() => void vi.unstubAllEnvs());

interface Report {
  readonly ok: boolean;
  readonly findings: readonly { status: string; what: string; detail: string; advice?: string }[];
}

const runDoctor = async (config: object, env: Record<string, string> = {}) => {
  writeFileSync(join(dir(), 'toolkeel.config.json'), JSON.stringify(config));
  // A pack reads its credentials from the process environment.
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const runWith = async (...flags: string[]) => {
    const dataDir = { TOOLKEEL_DATA_DIR: join(dir(), 'data') };
    const runtime = fakeRuntime({ cwd: dir(), env: { ...dataDir, ...env } });
    return { code: await run(['doctor', ...flags], runtime), out: runtime.output() };
  };
  const { code, out } = await runWith('--json');
  return { code, report: JSON.parse(out) as Report, text: (await runWith()).out };
};

const only = (catalogs: object, more: object = {}) => ({
  packs: { stac: { catalogs, builtinCatalogs: false, ...more } },
});
const headers = { 'X-Api-Key': { env: 'OUR_KEY' } };

describe('toolkeel doctor', () => {
  it('passes, and shows the location of a credential but not its value', async () => {
    const config = only({ ours: { url: upstream.url, headers } });
    const { code, report, text } = await runDoctor(config, { OUR_KEY: secret });
    expect({ code, ok: report.ok }).toEqual({ code: 0, ok: true });
    expect(report.findings.map(({ status, what }) => [status, what])).toEqual([
      ['ok', 'Node.js'],
      ['ok', 'configuration'],
      ['ok', 'credential'],
      ['ok', 'data directory'],
      ['ok', 'journal'],
      ['ok', 'stac: ours'],
    ]);
    expect(text).toContain('is in the variable OUR_KEY');
    expect(text).toContain('All checks passed.');
    expect(JSON.stringify(report) + text).not.toContain(secret);
  });

  it('reports which upstream fails, why, and how to fix it', async () => {
    const catalogs = {
      ours: { url: upstream.url },
      unreachable: { url: 'http://127.0.0.1:9' },
      healthy: { url: upstream.url, headers },
    };
    const config = only(catalogs, { defaultCatalog: 'healthy' });
    const warned = await runDoctor(config, { OUR_KEY: secret });
    expect(warned.code).toBe(0);
    expect(warned.report.findings.filter(({ status }) => status === 'warn')).toEqual([
      expect.objectContaining({ what: 'stac: ours', detail: expect.stringContaining('401') }),
      expect.objectContaining({
        what: 'stac: unreachable',
        detail: expect.stringContaining('ECONNREFUSED'),
        advice: expect.stringContaining('Check its address'),
      }),
    ]);
    const failed = await runDoctor(only(catalogs, { defaultCatalog: 'ours' }), { OUR_KEY: secret });
    expect(failed.code).toBe(1);
    expect(failed.text).toMatch(/^FAIL {2}stac: ours /m);
  });

  it('limits the wait for an unresponsive upstream', async () => {
    const stalled = await startStacSandbox({ scale: 0.1, faults: [{ kind: 'stall', rate: 1 }] });
    const runtime = fakeRuntime({
      cwd: dir(),
      env: { TOOLKEEL_STAC_URL: stalled.url, TOOLKEEL_DATA_DIR: dir() },
    });
    expect(await run(['doctor'], runtime)).toBe(1);
    expect(runtime.output()).toMatch(/FAIL {2}stac: default .*timeout/);
    await stalled.close();
  });

  it('reports every mistake of a configuration and exits with 1', async () => {
    const { code, report } = await runDoctor({ profil: 1, packs: { stak: {} } });
    expect(code).toBe(1);
    expect(report.findings.slice(1).map(({ status, what }) => [status, what])).toEqual([
      ['fail', 'configuration'],
      ['fail', 'configuration'],
    ]);
    expect(report.findings[1]?.detail).toMatch(/Did you mean/);
  });

  it('reports a missing credential', async () => {
    const { code, text } = await runDoctor(only({ ours: { url: upstream.url, headers } }));
    expect(code).toBe(1);
    expect(text).toMatch(/the variable OUR_KEY is not set/);
  });
});

it('lists the tools that a client can use: those that are left out are in no conflict', async () => {
  const server = fileURLToPath(new URL('../../guard/test/chaos/server.mjs', import.meta.url));
  const entry = (name: string, more: object) => ({
    command: process.execPath,
    args: [server, join(dir(), name), '--era', 'legacy'],
    prefix: 'same_',
    ...more,
  });
  const one = entry('one', { include: ['read'] });
  const upstreams = { one, two: entry('two', { exclude: ['read'] }) };
  const { report } = await runDoctor({ upstreams });
  const whats = report.findings.map(({ what }) => what.trim());
  expect(whats.filter((what) => what === 'same_read')).toHaveLength(1);
  expect(whats).toContain('same_put');
  expect(report.findings.filter(({ status }) => status !== 'ok')).toEqual([]);
  const { detail = '' } = report.findings.find(({ what }) => what === 'upstream one') ?? {};
  expect(detail).toMatch(/ 1 tools \(\d+ left out by include and exclude\): 1 read/);
});
