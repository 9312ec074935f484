import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@toolkeel/host';
import { describe, expect, it } from 'vitest';
import { packLine } from '../packs.js';
import { watchedSurroundings } from '../surroundings.fixture.js';
import { useTempDir } from '../temp-dir.fixture.js';
import { UsageError } from '../usage-error.js';
import { ownVersion } from '../version.js';
import { init } from './init.js';

const dir = useTempDir();
const file = () => join(dir(), 'toolkeel.config.json');
const here = () => watchedSurroundings({ cwd: dir() });
const written = () => JSON.parse(readFileSync(file(), 'utf8')) as Record<string, unknown>;

describe('init without questions', () => {
  it('writes a file that is accepted, and says how four clients are told of it', async () => {
    const runtime = here();
    const upstream = ['stac=https://stac.example.com/v1'];
    expect(await init({ yes: true, upstream }, runtime)).toBe(0);
    const packs = [await packLine('stac').load()];
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
    const packs = [await packLine('x').load()];
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
