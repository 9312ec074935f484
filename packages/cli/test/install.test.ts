import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { overHttp, overStdio } from './support/client.js';
import { endAll, start } from './support/process.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const packages = fileURLToPath(new URL('../..', import.meta.url));
const ours = new Map(
  readdirSync(packages).map((room) => {
    const dir = join(packages, room);
    const manifest = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Manifest;
    return [manifest.name, { dir, manifest }] as const;
  }),
);

/** The command and all packages of this repository that it depends on. */
const published = (name = 'toolkeel', seen = new Set<string>()): Set<string> => {
  if (!ours.has(name) || seen.has(name)) return seen;
  seen.add(name);
  for (const next of Object.keys(ours.get(name)?.manifest.dependencies ?? {}))
    published(next, seen);
  return seen;
};

/** Removes the variables with which an outer npm identifies its project. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_(package|lifecycle|config_local_prefix|command)|INIT_CWD)/i.test(name),
  ),
) as Record<string, string>;

const npm = async (args: readonly string[], cwd: string): Promise<string> => {
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const options = { cwd, env: environment, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)('npm', [...args, ...quiet], options);
  return stdout;
};

/** Unbundled, and bundled by `npm run pack` for publishing. */
const ways = {
  unbundled: async (folders: readonly string[], dir: string) => {
    await npm(['pack', ...folders, '--pack-destination', dir], dir);
  },
  bundled: async (_: readonly string[], dir: string) => {
    const script = fileURLToPath(new URL('../../../scripts/pack.mjs', import.meta.url));
    await promisify(execFile)(process.execPath, [script, dir], { env: environment });
  },
};

afterAll(endAll);

interface Lock {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
}

describe.each(['unbundled', 'bundled'] as const)(
  'the packages, %s, in an empty directory',
  (way) => {
    const dir = mkdtempSync(join(tmpdir(), 'toolkeel-install-'));

    beforeAll(async () => {
      const folders = [...published()].map((name) => ours.get(name)?.dir ?? '');
      await ways[way](folders, dir);
      const files = readdirSync(dir).flatMap((file) =>
        file.endsWith('.tgz') ? [`./${file}`] : [],
      );
      writeFileSync(join(dir, 'package.json'), '{ "name": "empty", "private": true }');
      await npm(['install', ...files, '--prefer-offline'], dir);
    }, 180_000);

    afterAll(() => rmSync(dir, { recursive: true, force: true }));

    const npx = (...args: readonly string[]) =>
      start('npx', ['toolkeel', ...args], { cwd: dir, env: environment });

    it('are complete, public and have no install script', () => {
      expect([...published()].filter((name) => ours.get(name)?.manifest.private)).toEqual([]);
      const lock = JSON.parse(readFileSync(join(dir, 'package-lock.json'), 'utf8')) as Lock;
      const scripted = Object.entries(lock.packages).filter(([, entry]) => entry.hasInstallScript);
      expect(scripted.map(([path]) => path)).toEqual([]);
      expect(Object.keys(lock.packages)).toContain('node_modules/toolkeel');
      for (const name of published()) {
        const license = join(dir, 'node_modules', name, 'LICENSE');
        expect(readFileSync(license, 'utf8')).toContain('Apache License');
      }
    });

    it('provide `npx toolkeel up --sandbox`', async () => {
      const up = npx('up', '--sandbox', '--port', '0');
      const [, url = ''] = await up.waitForOutput(/MCP +(http:\S+)/);
      const client = await overHttp(url);
      expect(await client.call('search_items', { limit: 1 })).toMatchObject({ success: true });
      expect(await client.call('x_get_me')).toMatchObject({ success: true });
      await client.close();
      up.kill('SIGINT');
      await up.ended;
      await expect(fetch(url)).rejects.toThrow();
      expect(up.err()).toMatch(/"event":"stopped"/);
    });

    it('provide `toolkeel serve` for clients', async () => {
      const [stac, x] = await Promise.all(
        ['stac', 'x'].map((pack) =>
          overStdio([pack], { cwd: dir, env: environment }, ['npx', 'toolkeel']),
        ),
      );
      expect(await stac?.tools()).toHaveLength(15);
      expect(await x?.tools()).toHaveLength(26);
      await Promise.all([stac?.close(), x?.close()]);
    });

    it('contain each pack in the expected number of files', () => {
      for (const pack of ['stac', 'x']) {
        const dist = join(dir, 'node_modules', '@toolkeel', pack, 'dist');
        const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
        const modules = files.filter((file) => file.endsWith('.js')).length;
        expect({ pack, isBundled: modules < 15 }).toEqual({ pack, isBundled: way === 'bundled' });
      }
    });

    it('report their version, and match the published manifest', async () => {
      const version = npx('--version');
      expect(await version.ended).toMatchObject({ code: 0 });
      expect(version.out().trim()).toBe(ours.get('toolkeel')?.manifest.version);
      const check = npx('manifest', '--check');
      expect(await check.ended).toMatchObject({ code: 0 });
    });
  },
);
