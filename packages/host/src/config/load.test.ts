import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pack } from '@toolkeel/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigError } from '../errors.js';
import { loadConfig, type LoadOptions } from './load.js';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'toolkeel-config-'));
});

afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

const pack: Pack = {
  name: 'sample',
  configSchema: z.strictObject({
    catalogs: z.record(z.string(), z.strictObject({ url: z.string() })).default({}),
    toolTimeoutSecs: z.number().default(15),
    headers: z.record(z.string(), z.unknown()).optional(),
  }),
  describe: () => [],
  create: () => Promise.reject(new Error('not needed')),
};

const write = (content: unknown): string => {
  const path = join(cwd, 'toolkeel.config.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

const load = (options: LoadOptions = {}) =>
  loadConfig({ cwd, env: {}, packs: [{ pack, preset: 'stac' }], ...options });

const refusal = (options: LoadOptions = {}): ConfigError => {
  try {
    load(options);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
};

describe('without a file', () => {
  it('has defaults', () => {
    const { config, file, httpToken } = load();
    expect(config).toMatchObject({ profile: 'readonly', log: { level: 'info' }, packs: {} });
    expect([file, httpToken]).toEqual([undefined, undefined]);
  });

  it('rejects a named file that does not exist', () => {
    expect(refusal({ env: { TOOLKEEL_CONFIG: 'no.json' } }).message).toMatch(
      /no\.json.*no such file/,
    );
  });
});

describe('a section that is missing', () => {
  const strict: Pack = {
    ...pack,
    name: 'strict',
    configSchema: z.strictObject({ baseUrl: z.url(), token: z.string() }),
  };
  const entry = (name: string) => load({ packs: [{ pack }, { pack: strict }] }).packEntry(name);

  it('is reported like a wrong one: the file, each setting, and what is missing', () => {
    const file = write({ packs: { sample: {} } });
    expect(() => entry('strict')).toThrow(ConfigError);
    expect(() => entry('strict')).toThrow(
      [
        `${file}: /packs/strict: is missing; the pack requires these settings:`,
        `${file}: /packs/strict/baseUrl: Invalid input: expected string, received undefined`,
        `${file}: /packs/strict/token: Invalid input: expected string, received undefined`,
      ].join('\n'),
    );
    expect(entry('sample').config).toEqual({});
  });

  it('belongs into the default file if there is none', () => {
    expect(() => entry('strict')).toThrow(/^toolkeel\.config\.json: \/packs\/strict: is missing/);
  });
});

describe('precedence', () => {
  it('is flags over environment over file over defaults', () => {
    write({ profile: 'api', log: { level: 'warn' }, dataDir: '/file', http: { port: 1 } });
    const env = { TOOLKEEL_LOG_LEVEL: 'error', TOOLKEEL_DATA_DIR: '/env', TOOLKEEL_PROFILE: '' };
    const { config } = load({ env, flags: { dataDir: '/flag', http: { host: 'localhost' } } });
    expect(config).toMatchObject({
      profile: 'api',
      log: { level: 'error' },
      dataDir: '/flag',
      http: { port: 1, host: 'localhost' },
    });
  });

  it('applies to packs as well', () => {
    write({ packs: { sample: { catalogs: { a: { url: 'file' }, b: { url: 'file' } } } } });
    const fromEnvironment = () => ({ catalogs: { b: { url: 'env' } } });
    const { packEntry } = load({ packs: [{ pack, fromEnvironment }] });
    expect(packEntry('sample').config).toEqual({
      catalogs: { a: { url: 'file' }, b: { url: 'env' } },
    });
  });
});

describe('the time limit of a call', () => {
  const entryOf = (options: LoadOptions) => load(options).packEntry('sample');

  it('comes from the variable of the pack, the general variable, the file, or the default of the pack', () => {
    const own = { SAMPLE_MCP_TOOL_TIMEOUT_SECS: '2', TOOLKEEL_TOOL_TIMEOUT_SECS: '3' };
    expect(entryOf({ env: own })).toMatchObject({
      callTimeoutMs: 2000,
      config: { toolTimeoutSecs: 2 },
    });
    expect(entryOf({ env: { TOOLKEEL_TOOL_TIMEOUT_SECS: '0.5' } }).callTimeoutMs).toBe(500);
    expect(entryOf({ env: own, flags: { toolTimeoutSecs: 1 } }).callTimeoutMs).toBe(1000);
    expect(entryOf({}).callTimeoutMs).toBe(15_000);
    write({ toolTimeoutSecs: 9, packs: { sample: { toolTimeoutSecs: 8 } } });
    expect(entryOf({}).callTimeoutMs).toBe(8000);
  });

  it('comes from the preset if the pack has none', () => {
    const plain = { ...pack, configSchema: z.strictObject({}) };
    const packs = [{ pack: plain, preset: 'github' as const }];
    expect(load({ packs }).packEntry('sample').callTimeoutMs).toBe(55_000);
    write({ policies: { github: { callTimeoutMs: 7000 } } });
    expect(load({ packs }).packEntry('sample').callTimeoutMs).toBe(7000);
  });

  it('is rejected with the name of the variable if it is not a number', () => {
    expect(refusal({ env: { TOOLKEEL_TOOL_TIMEOUT_SECS: 'soon' } }).message).toMatch(
      /^TOOLKEEL_TOOL_TIMEOUT_SECS: \/toolTimeoutSecs: /,
    );
  });
});

describe('the byte budget of a result', () => {
  it('comes from the file or the environment, and is rejected if it is out of range', () => {
    expect(load({}).hostOptions.byteBudget).toBeUndefined();
    write({ byteBudget: 100_000 });
    expect(load({}).hostOptions.byteBudget).toBe(100_000);
    const env = { TOOLKEEL_BYTE_BUDGET: '200000' };
    expect(load({ env }).hostOptions.byteBudget).toBe(200_000);
    expect(refusal({ env: { TOOLKEEL_BYTE_BUDGET: '10' } }).message).toMatch(
      /^TOOLKEEL_BYTE_BUDGET: \/byteBudget: /,
    );
  });
});

describe('a mistake', () => {
  it('is reported with file, pointer and suggestion, together with all others', () => {
    const file = write({ profil: 'api', packs: { sample: { catlogs: {} }, smaple: {} } });
    expect(refusal().issues).toEqual([
      {
        origin: file,
        pointer: '/packs/sample/catlogs',
        message: 'is not a known setting. Did you mean "catalogs"?',
      },
      {
        origin: file,
        pointer: '/packs/smaple',
        message: 'is not a known pack. Did you mean "sample"?',
      },
      {
        origin: file,
        pointer: '/profil',
        message: 'is not a known setting. Did you mean "profile"?',
      },
    ]);
  });

  it('is reported with a suggestion inside a record', () => {
    write({ packs: { sample: { catalogs: { 'a/b': { ulr: 'x', url: 'y' } } } } });
    expect(refusal().message).toMatch(/\/packs\/sample\/catalogs\/a~1b\/ulr: .*"url"/);
  });

  it('is reported with the variable or flag that set the value', () => {
    expect(refusal({ env: { TOOLKEEL_PROFILE: 'readonli' } }).message).toBe(
      'TOOLKEEL_PROFILE: /profile: must be one of readonly, api, workflow. Did you mean "readonly"?',
    );
    expect(refusal({ flags: { http: { port: -1 } } }).issues[0]).toMatchObject({
      origin: '--http-port',
      pointer: '/http/port',
    });
  });

  it('is reported with its line if the file is not valid JSON', () => {
    const file = write('{\n  "profile": "api",\n}');
    expect(refusal().message).toBe(`${file}: is not valid JSON: line 3, column 1`);
    write('[]');
    expect(refusal().message).toMatch(/must contain a JSON object/);
  });

  it('in a retry policy is reported with the name of its member', () => {
    write({ policies: { stac: { maxRetries: -1 } } });
    expect(refusal().message).toMatch(/\/policies\/stac: .*maxRetries/);
    write({ policies: { stak: {} } });
    expect(refusal().message).toMatch(/stak/);
  });
});

describe('a secret', () => {
  it('comes from the environment or from a file that only its owner can read', () => {
    const path = join(cwd, 'token');
    writeFileSync(path, 'from-a-file\n', { mode: 0o600 });
    write({ http: { token: { file: path } } });
    expect(load().httpToken?.reveal()).toBe('from-a-file');
    const { httpToken, secrets } = load({ env: { TOOLKEEL_HTTP_TOKEN: 'from-the-env' } });
    expect(httpToken?.reveal()).toBe('from-the-env');
    expect(secrets.scrub('x from-the-env y')).toBe('x [redacted] y');
    expect(String(httpToken)).not.toContain('from-the-env');
  });

  it('for the metrics is separate', () => {
    write({ http: { metricsToken: { env: 'SCRAPE' } } });
    const { httpOptions, secrets } = load({ env: { SCRAPE: 'for-the-scraper' } });
    expect(httpOptions.token).toBeUndefined();
    expect(httpOptions.metricsToken?.reveal()).toBe('for-the-scraper');
    expect(secrets.scrub('x for-the-scraper y')).toBe('x [redacted] y');
    const env = { TOOLKEEL_HTTP_METRICS_TOKEN: 'from-the-env', SCRAPE: 'for-the-scraper' };
    expect(load({ env }).httpOptions.metricsToken?.reveal()).toBe('from-the-env');
    write({ http: { metricsToken: 'in-the-open' } });
    expect(refusal().message).toMatch(/\/http\/metricsToken: /);
  });

  it.skipIf(process.platform === 'win32')('in a file that other users can read is rejected', () => {
    const path = join(cwd, 'token');
    writeFileSync(path, 'from-a-file');
    chmodSync(path, 0o644);
    write({ http: { token: { file: path } } });
    expect(refusal().message).toMatch(/\/http\/token: .*mode 644.*600/);
  });

  it('that does not exist is reported with its name', () => {
    write({ http: { token: { env: 'NO_SUCH' } } });
    expect(refusal().message).toMatch(/\/http\/token: the variable NO_SUCH is not set/);
  });

  it('in plain text is rejected anywhere, and not repeated in the message', () => {
    write({
      http: { token: 'hunter2-hunter2' },
      journal: { url: 'postgres://me:hunter2-hunter2@db/x' },
      packs: { sample: { headers: { Authorization: 'Bearer hunter2-hunter2' } } },
    });
    const { issues, message } = refusal();
    expect(issues.map(({ pointer }) => pointer)).toEqual([
      '/http/token',
      '/journal/url',
      '/packs/sample/headers/Authorization',
    ]);
    expect(message).not.toContain('hunter2');
  });

  it('in plain text in the file is rejected even if the environment or a flag overrides it', () => {
    write({
      http: { token: 'hunter2-hunter2' },
      journal: { url: 'postgres://me:hunter2-hunter2@db/x' },
    });
    const env = { TOOLKEEL_HTTP_TOKEN: 'from-the-env', TOOLKEEL_JOURNAL_URL: 'memory:' };
    const { issues, message } = refusal({ env });
    expect(issues.map(({ pointer, origin }) => [pointer, origin])).toEqual([
      ['/http/token', join(cwd, 'toolkeel.config.json')],
      ['/journal/url', join(cwd, 'toolkeel.config.json')],
    ]);
    expect(message).not.toContain('hunter2');
    expect(message).not.toContain('from-the-env');
  });

  it('of a pack is redacted, although the pack reads it itself', () => {
    write({
      packs: { sample: { headers: { Authorization: { env: 'PACK_CRED', prefix: 'Bearer ' } } } },
    });
    const { secrets, packEntry } = load({ env: { PACK_CRED: 'pack-credential' } });
    expect(secrets.scrub('Bearer pack-credential')).toBe('Bearer [redacted]');
    expect(packEntry('sample').config).toMatchObject({
      headers: { Authorization: { env: 'PACK_CRED' } },
    });
  });
});

describe('packs that are not in use', () => {
  const otherPacks = ['other'];

  it('may have any settings in the file', () => {
    write({ packs: { other: { token: { env: 'NOT_SET' }, nonsense: 1 }, sample: {} } });
    expect(load({ otherPacks }).config.packs).toEqual({
      sample: { catalogs: {}, toolTimeoutSecs: 15 },
    });
    expect(refusal().message).toMatch(/\/packs\/other: is not a known pack\. .* with --pack FILE/);
  });

  it('are suggested for a misspelled name', () => {
    write({ packs: { othr: {} } });
    expect(refusal({ otherPacks }).message).toMatch(/Did you mean "other"/);
  });
});

describe('pack settings for a sandbox', () => {
  const real = { catalogs: { a: { url: 'real' } }, headers: { Authorization: { env: 'NOT_SET' } } };

  it('replace all upstream settings of the file and the environment', () => {
    write({
      profile: 'api',
      packs: { sample: real, other: {} },
      upstreams: { u: { url: 'real' } },
    });
    const fromEnvironment = () => ({ catalogs: { b: { url: 'real' } } });
    const { config, packEntry, credentials } = load({
      packs: [{ pack, fromEnvironment }],
      packSettings: { sample: { catalogs: { c: { url: 'sandbox' } } } },
      env: { SAMPLE_MCP_TOOL_TIMEOUT_SECS: '3' },
    });
    expect(packEntry('sample')).toMatchObject({
      config: { catalogs: { c: { url: 'sandbox' } }, toolTimeoutSecs: 3 },
      callTimeoutMs: 3000,
    });
    expect(JSON.stringify(config)).not.toContain('real');
    expect([config.profile, config.upstreams, credentials]).toEqual(['api', undefined, []]);
  });
});

describe('the data directory', () => {
  it('provides settings of a pack, unless the pack has other ones or runs in a sandbox', () => {
    const keptIn = (dataDir: string, settings: object) =>
      'headers' in settings ? {} : { catalogs: { kept: { url: dataDir } } };
    const packs = [{ pack, keptIn }];
    const env = { TOOLKEEL_DATA_DIR: 'kept' };
    const configOf = (options: LoadOptions) => load({ packs, env, ...options }).packEntry('sample');
    const kept = { catalogs: { kept: { url: join(cwd, 'kept') } } };
    expect(configOf({}).config).toEqual(kept);
    write({ packs: { sample: { headers: {} } } });
    expect(configOf({}).config).toEqual({ headers: {} });
    write({ packs: { sample: { catalogs: {} } } });
    expect(configOf({}).config).toEqual({ catalogs: {} });
    expect(configOf({ packSettings: {} }).config).toEqual({});
  });

  it('is relative to the file, or to the working directory', () => {
    write({ dataDir: 'kept' });
    const file = join(cwd, 'toolkeel.config.json');
    expect(load({ file, cwd: tmpdir() }).dataDir).toBe(join(cwd, 'kept'));
    const env = { TOOLKEEL_DATA_DIR: 'kept' };
    expect(load({ file, cwd: tmpdir(), env }).dataDir).toBe(join(tmpdir(), 'kept'));
  });
});

it('lists the configured secrets without their values', () => {
  write({ packs: { sample: { headers: { Key: { env: 'PACK_CRED' } } } } });
  const env = { PACK_CRED: 'pack-credential', TOOLKEEL_HTTP_TOKEN: 'a-long-token' };
  expect(load({ env }).credentials).toEqual([
    { pointer: '/packs/sample/headers/Key', from: 'the variable PACK_CRED' },
    { pointer: '/http/token', from: 'the variable TOOLKEEL_HTTP_TOKEN' },
  ]);
});

it.each([
  [{}, true],
  [{ mode: 'autopilot' }, true],
  [{ mode: 'autopilot', template: 'open' }, false],
  [{ mode: 'composer', template: 'open' }, true],
  [
    { mode: 'autopilot', template: 'open', rules: [{ name: 'a', action: 'require_approval' }] },
    true,
  ],
  [{ mode: 'autopilot', template: 'open', rules: [{ name: 'a', action: 'deny' }] }, false],
])('tells whether a call can wait for an operator: %j, %j', (settings, approvalMode) => {
  write({ profile: 'workflow', ...settings });
  expect(load({}).hostOptions.profile).toMatchObject({ approvalMode });
});

it('is converted to the options of a host', () => {
  write({ profile: 'workflow', http: { port: 0, graceSecs: 2, allowedHosts: ['a.example'] } });
  const env = { TOOLKEEL_TOOL_TIMEOUT_SECS: '2', TOOLKEEL_HTTP_TOKEN: 'a-long-token' };
  const { hostOptions, httpOptions } = load({ env });
  expect(hostOptions).toMatchObject({
    profile: { name: 'workflow', mode: 'composer', approvalMode: true },
    callTimeoutMs: 2000,
  });
  const { token, ...rest } = httpOptions;
  expect(rest).toEqual({ port: 0, graceMs: 2000, allowedHosts: ['a.example'] });
  expect(token?.reveal()).toBe('a-long-token');
});

describe('a flag or variable that requires fewer approvals than the configuration', () => {
  const api = { TOOLKEEL_PROFILE: 'api' };

  it.each<[string, object, LoadOptions, string]>([
    ['a flag', { profile: 'workflow' }, { flags: { profile: 'api' } }, '--profile'],
    ['a variable', { profile: 'workflow' }, { env: api }, 'TOOLKEEL_PROFILE'],
    [
      'a flag over a variable',
      {},
      { env: { TOOLKEEL_PROFILE: 'workflow' }, flags: { profile: 'api' } },
      '--profile',
    ],
    ['a mode', { profile: 'workflow' }, { flags: { mode: 'autopilot' } }, '--mode'],
    [
      'a flag in autopilot, where rules and the template require approval',
      { profile: 'workflow', mode: 'autopilot' },
      { flags: { profile: 'api' } },
      '--profile',
    ],
  ])('is rejected without --without-approval: %s', (_, file, options, by) => {
    write(file);
    const { message } = refusal(options);
    expect(message).toMatch(new RegExp(`^${by}: moves the server from workflow `));
    expect(message).toContain('--without-approval');
    expect(load({ ...options, withoutApproval: true }).approvalOverride).toMatchObject({ by });
  });

  const approvalRule = { name: 'a', action: 'require_approval' };
  it.each<[string, object, string]>([
    ['its mode', { mode: 'composer' }, '/mode'],
    ['its template', { template: 'standard' }, '/template'],
    ['a rule', { rules: [{ name: 'b', action: 'deny' }, approvalRule] }, '/rules/1/action'],
  ])('is always rejected if %s requires approval, and names that entry', (_, more, entry) => {
    write({ profile: 'workflow', ...more });
    for (const accepted of [{}, { withoutApproval: true }, { packSettings: {} }]) {
      const { message } = refusal({ env: api, ...accepted });
      expect(message).toMatch(/^TOOLKEEL_PROFILE: moves the server from workflow /);
      expect(message).toContain(`Drop TOOLKEEL_PROFILE, or change ${entry} (`);
      expect(message).not.toContain('--without-approval');
    }
  });

  it.each<[string, object, LoadOptions]>([
    ['to readonly', { profile: 'workflow' }, { flags: { profile: 'readonly' } }],
    ['from a profile without approvals', { profile: 'readonly' }, { flags: { profile: 'api' } }],
    ['without a file', {}, { env: api }],
    [
      'to the mode that requires all approvals',
      { profile: 'workflow', mode: 'autopilot' },
      { flags: { mode: 'composer' } },
    ],
    ['with sandboxes', { profile: 'workflow' }, { env: api, packSettings: {} }],
  ])('is accepted %s', (_, file, options) => {
    write(file);
    expect(load(options).approvalOverride).toBeUndefined();
  });
});
