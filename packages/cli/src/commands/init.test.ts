import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { loadConfig } from '@toolkeel/host';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../errors.js';
import { cliPack } from '../packs.js';
import { fakeRuntime, useTempDir } from '../runtime.fixture.js';
import { ownVersion } from '../runtime.js';
import { answersFrom, configOf, init, launchOf, urlProblem } from './init.js';

const dir = useTempDir();
const file = () => join(dir(), 'toolkeel.config.json');
const here = () => fakeRuntime({ cwd: dir() });
const written = () => JSON.parse(readFileSync(file(), 'utf8')) as Record<string, unknown>;

describe('init --yes', () => {
  it('writes a valid file, and prints the settings of four clients', async () => {
    const runtime = here();
    const upstream = ['stac=https://stac.example.com/v1'];
    expect(await init({ yes: true, upstream }, runtime)).toBe(0);
    const packs = [await cliPack('stac').load()];
    const { config, packEntry } = loadConfig({ cwd: dir(), env: {}, packs });
    expect(config.profile).toBe('readonly');
    expect(packEntry('stac').config).toMatchObject({ defaultCatalog: 'default' });
    for (const client of ['Claude Desktop', 'Claude Code', 'Cursor', 'VS Code']) {
      expect(runtime.output()).toContain(client);
    }
    expect(runtime.output()).toContain(file());
  });

  it('adds a pack that requires a login only if it is named, and prints how to log in', async () => {
    const runtime = here();
    await init({ yes: true }, runtime);
    expect(written()['packs']).toEqual({ stac: {} });
    expect(runtime.output()).not.toContain('toolkeel login');
    const named = here();
    await init({ yes: true, force: true, pack: ['x'], upstream: ['x=http://127.0.0.1:9'] }, named);
    expect(written()['packs']).toEqual({ x: { baseUrl: 'http://127.0.0.1:9' } });
    expect(named.output()).toContain('Authorize x to act for you: toolkeel login x');
    const packs = [await cliPack('x').load()];
    expect(loadConfig({ cwd: dir(), env: {}, packs }).packEntry('x').config).toMatchObject({
      tokenFile: expect.stringMatching(/x-login\.json$/),
    });
  });

  it('references the schema of this version, or the installed one', async () => {
    await init({ yes: true }, here());
    expect(written()['$schema']).toBe(
      `https://unpkg.com/toolkeel@${ownVersion()}/dist/config.schema.json`,
    );
    const dist = join(dir(), 'node_modules', 'toolkeel', 'dist');
    mkdirSync(dist, { recursive: true });
    writeFileSync(join(dist, 'config.schema.json'), '{}');
    await init({ yes: true, force: true }, here());
    expect(written()['$schema']).toBe('./node_modules/toolkeel/dist/config.schema.json');
  });

  it('keeps an existing file without --force', async () => {
    writeFileSync(file(), '{"profile":"api"}');
    const runtime = here();
    expect(await init({ yes: true }, runtime)).toBe(1);
    expect(runtime.errorOutput()).toMatch(/already exists.*--force/);
    expect(written()).toEqual({ profile: 'api' });
    expect(await init({ yes: true, force: true }, here())).toBe(0);
    expect(written()['profile']).toBe('readonly');
  });

  it('is required without a terminal', async () => {
    await expect(init({}, here())).rejects.toThrow(UsageError);
    expect(existsSync(file())).toBe(false);
  });

  it('writes nothing for an invalid flag', async () => {
    await expect(init({ yes: true, profile: 'all' }, here())).rejects.toThrow(
      /Unknown profile "all"/,
    );
    expect(existsSync(file())).toBe(false);
  });
});

describe('answersFrom', () => {
  it('has defaults', () => {
    expect(answersFrom({})).toEqual({ profile: 'readonly', packs: ['stac'], upstreams: {} });
  });

  it('uses the flags, and adds the pack of an upstream', () => {
    const url = 'https://stac.example.com/v1?a=b';
    expect(answersFrom({ profile: 'api', upstream: [`stac=${url}`] })).toEqual({
      profile: 'api',
      packs: ['stac'],
      upstreams: { stac: url },
    });
  });

  it.each([
    [{ profile: 'readonli' }, /Did you mean "readonly"/],
    [{ pack: ['stak'] }, /Did you mean "stac"/],
    [{ upstream: ['stak=https://a.example'] }, /Did you mean "stac"/],
    [{ upstream: ['https://a.example'] }, /is not PACK=URL/],
    [{ upstream: ['stac=a.example'] }, /--upstream stac: "a.example" is not a URL/],
    [{ upstream: ['stac=ftp://a.example'] }, /must begin with https/],
    [{ upstream: ['stac=https://me:hunter2@a.example'] }, /contains a password/],
    [{ upstream: ['stac=https://a.example?api_key=hunter2'] }, /contains a secret in its query/],
  ])('refuses %j', (flags, message) => {
    const refused = () => answersFrom(flags);
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(message);
    expect(refused).not.toThrow(/hunter2/);
  });
});

it('urlProblem never throws', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => {
      const problem = urlProblem(text);
      return problem !== undefined || /^\s*https?:/i.test(text);
    }),
  );
});

it('configOf returns a configuration that the packs accept', async () => {
  const schema = 'https://example.com/s.json';
  const upstreams = { stac: 'https://stac.example.com' };
  const config = configOf({ profile: 'api', packs: ['stac'], upstreams }, schema);
  expect(config).toMatchObject({ $schema: schema, profile: 'api' });
  const { pack } = await cliPack('stac').load();
  const { stac } = config['packs'] as { stac: unknown };
  expect(pack.configSchema.parse(stac)).toMatchObject({
    defaultCatalog: 'default',
    catalogs: { default: { url: upstreams.stac } },
  });
});

const npxScript = ['', 'home', '_npx', 'ab12', 'node_modules', 'toolkeel', 'dist', 'bin.js'].join(
  sep,
);

it('launchOf uses absolute paths', () => {
  expect(launchOf(['serve'], { script: '/app/bin.js', node: '/bin/node' })).toEqual({
    command: '/bin/node',
    args: ['/app/bin.js', 'serve'],
  });
});

it('launchOf uses npx below the npx cache', () => {
  expect(launchOf(['serve'], { script: npxScript, platform: 'linux' })).toEqual({
    command: 'npx',
    args: ['-y', 'toolkeel', 'serve'],
  });
  expect(launchOf(['serve'], { script: npxScript, platform: 'win32' })).toEqual({
    command: 'cmd',
    args: ['/c', 'npx', '-y', 'toolkeel', 'serve'],
  });
});
