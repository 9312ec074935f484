import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { configuredPacks, defaultDataDir, packSettings } from './file.js';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'toolkeel-file-'));
});

afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

it('lists the packs in the file without validating it', () => {
  expect(configuredPacks({ cwd, env: {} })).toEqual({ file: undefined, packs: [] });
  const file = join(cwd, 'toolkeel.config.json');
  const packs = { stac: 1, stak: {}, tickets: { module: './tickets.js', url: 'x' } };
  writeFileSync(file, JSON.stringify({ packs, nonsense: true }));
  const expected = [
    { name: 'stac' },
    { name: 'stak' },
    { name: 'tickets', module: './tickets.js' },
  ];
  expect(configuredPacks({ cwd, env: {} })).toEqual({ file, packs: expected });
  expect(configuredPacks({ file, env: { TOOLKEEL_CONFIG: 'no.json' } }).packs).toEqual(expected);
});

it.each([1, '', {}])('rejects %j as the module of a pack', (module) => {
  const file = join(cwd, 'toolkeel.config.json');
  writeFileSync(file, JSON.stringify({ packs: { tickets: { module } } }));
  expect(() => configuredPacks({ cwd, env: {} })).toThrow(
    `${file}: /packs/tickets/module: must be a file such as "./tickets.js"`,
  );
});

it('rejects a file that cannot be read, with its name', () => {
  mkdirSync(join(cwd, 'toolkeel.config.json'));
  expect(() => configuredPacks({ cwd, env: {} })).toThrow(/toolkeel\.config\.json: cannot be read/);
});

it('returns the settings of a pack without secret sources, even if the file is invalid', () => {
  const headers = { 'X-Key': { file: '/secret' }, Accept: 'a' };
  const forHost = { module: './x.js', tools: { include: ['x_*'] } };
  const x = { ...forHost, token: { env: 'TOKEN' }, prices: { post: 1 }, deep: { headers } };
  writeFileSync(join(cwd, 'toolkeel.config.json'), JSON.stringify({ packs: { x }, nonsense: 1 }));
  expect(packSettings('x', { cwd, env: {} }).withoutSecrets).toEqual({
    prices: { post: 1 },
    deep: { headers: { Accept: 'a' } },
  });
  expect(packSettings('y', { cwd, env: {} })).toEqual({ settings: {}, withoutSecrets: {} });
});

it.each([
  ['linux', {}, ['/home/me', '.local', 'share', 'toolkeel']],
  ['linux', { XDG_DATA_HOME: '/data' }, ['/data', 'toolkeel']],
  ['linux', { XDG_DATA_HOME: 'relative' }, ['/home/me', '.local', 'share', 'toolkeel']],
  ['darwin', {}, ['/home/me', 'Library', 'Application Support', 'toolkeel']],
  ['win32', { LOCALAPPDATA: '/local' }, ['/local', 'toolkeel']],
  ['win32', {}, ['/home/me', 'AppData', 'Local', 'toolkeel']],
] as const)('uses the data directory of %s (%j)', (platform, env, parts) => {
  expect(defaultDataDir(env, platform, '/home/me')).toBe(join(...parts));
});
