import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { loadConfig } from '@toolkeel/host';
import { describe, expect, it } from 'vitest';
import { cliPack } from '../packs.js';
import { fakeRuntime, useTempDir } from '../runtime.fixture.js';
import { UsageError } from '../errors.js';
import { ownVersion } from '../runtime.js';
import { answersFrom, configOf, init, launchOf, urlProblem } from './init.js';
import fc from 'fast-check';

const dir = useTempDir();
const file = () => join(dir(), 'toolkeel.config.json');
const here = () => fakeRuntime({ cwd: dir() });
const written = () => JSON.parse(readFileSync(file(), 'utf8')) as Record<string, unknown>;

describe('init without questions', () => {
  it('writes a file that is accepted, and says how four clients are told of it', async () => {
    const runtime = here();
    const upstream = ['stac=https://stac.example.com/v1'];
    expect(await init({ yes: true, upstream }, runtime)).toBe(0);
    const packs = [await cliPack('stac').load()];
    const { config, packEntry } = loadConfig({ cwd: dir(), env: {}, packs });
    expect(config.profile).toBe('readonly');
    expect(packEntry('stac').config).toMatchObject({ defaultCatalog: 'default' });
    for (const client of ['Claude Desktop', 'Claude Code', 'Cursor', 'VS Code']) {
      expect(runtime.said()).toContain(client);
    }
    expect(runtime.said()).toContain(file());
  });

  it('says how to log in where a pack needs it, and takes such a pack only where it is named', async () => {
    const runtime = here();
    await init({ yes: true }, runtime);
    expect(written()['packs']).toEqual({ stac: {} });
    expect(runtime.said()).not.toContain('toolkeel login');
    const named = here();
    await init({ yes: true, force: true, pack: ['x'], upstream: ['x=http://127.0.0.1:9'] }, named);
    expect(written()['packs']).toEqual({ x: { baseUrl: 'http://127.0.0.1:9' } });
    expect(named.said()).toContain('toolkeel login x lets it act for you.');
    const packs = [await cliPack('x').load()];
    expect(loadConfig({ cwd: dir(), env: {}, packs }).packEntry('x').config).toMatchObject({
      tokenFile: expect.stringMatching(/x-login\.json$/),
    });
  });

  it('points editors to the schema of this version, or to the one that is installed', async () => {
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

  it('leaves a file alone that is there, unless it is forced', async () => {
    writeFileSync(file(), '{"profile":"api"}');
    const runtime = here();
    expect(await init({ yes: true }, runtime)).toBe(1);
    expect(runtime.complained()).toMatch(/left alone.*--force/);
    expect(written()).toEqual({ profile: 'api' });
    expect(await init({ yes: true, force: true }, here())).toBe(0);
    expect(written()['profile']).toBe('readonly');
  });

  it('is refused where nobody can be asked and nobody said --yes', async () => {
    await expect(init({}, here())).rejects.toThrow(UsageError);
    expect(existsSync(file())).toBe(false);
  });

  it('writes nothing when an answer is wrong', async () => {
    await expect(init({ yes: true, profile: 'all' }, here())).rejects.toThrow(/no profile "all"/);
    expect(existsSync(file())).toBe(false);
  });
});

describe('what the command line answers', () => {
  it('has defaults', () => {
    expect(answersFrom({})).toEqual({ profile: 'readonly', packs: ['stac'], upstreams: {} });
  });

  it('is taken as it is, and an upstream names its pack', () => {
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
    [{ upstream: ['stac=a.example'] }, /--upstream stac: "a.example" is not an address/],
    [{ upstream: ['stac=ftp://a.example'] }, /must begin with https/],
    [{ upstream: ['stac=https://me:hunter2@a.example'] }, /holds a password/],
    [{ upstream: ['stac=https://a.example?api_key=hunter2'] }, /holds a secret in its query/],
  ])('%j is refused', (flags, message) => {
    const refused = () => answersFrom(flags);
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(message);
    expect(refused).not.toThrow(/hunter2/);
  });
});

it('an address is judged without a crash, whatever it is', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => {
      const problem = urlProblem(text);
      return problem !== undefined || /^\s*https?:/i.test(text);
    }),
  );
});

it('the file that follows is one that the packs accept', async () => {
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

it('is this Node.js and this file, so that no search path is needed', () => {
  expect(launchOf(['serve'], { script: '/app/bin.js', node: '/bin/node' })).toEqual({
    command: '/bin/node',
    args: ['/app/bin.js', 'serve'],
  });
});

it('is npx again where npx has put us, because that is not for ever', () => {
  expect(launchOf(['serve'], { script: npxScript, platform: 'linux' })).toEqual({
    command: 'npx',
    args: ['-y', 'toolkeel', 'serve'],
  });
  expect(launchOf(['serve'], { script: npxScript, platform: 'win32' })).toEqual({
    command: 'cmd',
    args: ['/c', 'npx', '-y', 'toolkeel', 'serve'],
  });
});
