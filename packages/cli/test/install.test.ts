import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
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

const readManifest = (dir: string): Manifest =>
  JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Manifest;

const packages = fileURLToPath(new URL('../..', import.meta.url));
const ours = new Map(
  readdirSync(packages).map((room) => {
    const dir = join(packages, room);
    const manifest = readManifest(dir);
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

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const example = join(repository, 'examples', 'tickets');
const dirs = {
  bundled: mkdtempSync(join(tmpdir(), 'toolkeel-install-')),
  unbundled: mkdtempSync(join(tmpdir(), 'toolkeel-install-')),
};

afterAll(async () => {
  await endAll();
  for (const dir of Object.values(dirs)) rmSync(dir, { recursive: true, force: true });
});

const tarballsIn = (dir: string): string[] =>
  readdirSync(dir).filter((file) => file.endsWith('.tgz'));

const ways = {
  /** By `npm run pack` for publishing. They are those of a user, and the example is a user's project. */
  bundled: async (dir: string) => {
    const script = join(repository, 'scripts', 'pack.mjs');
    await promisify(execFile)(process.execPath, [script, dir], { env: environment });
    cpSync(example, dir, { recursive: true });
    const files = tarballsIn(dir).map((file) => `./${file}`);
    await npm(['install', ...files, '--prefer-offline', '--ignore-scripts'], dir);
  },
  /** Unpacked as npm does, with the dependencies that it installed for the bundled ones. */
  unbundled: async (dir: string) => {
    const folders = [...published()].map((name) => ours.get(name)?.dir ?? '');
    await npm(['pack', ...folders, '--pack-destination', dir], dir);
    const [from, to] = [dirs.bundled, dir].map((each) => join(each, 'node_modules'));
    mkdirSync(join(to!, '@toolkeel'), { recursive: true });
    for (const entry of readdirSync(from!))
      if (!/^(\.bin|toolkeel|@toolkeel)$/.test(entry))
        symlinkSync(join(from!, entry), join(to!, entry));
    const tarballs = tarballsIn(dir);
    for (const name of published()) {
      const prefix = name.replace('@', '').replace('/', '-');
      const { version = '' } = ours.get(name)?.manifest ?? {};
      expect(tarballs).toContain(`${prefix}-${version}.tgz`);
      mkdirSync(join(to!, name));
      const into = ['-C', join(to!, name), '--strip-components=1'];
      await promisify(execFile)('tar', ['-xf', join(dir, `${prefix}-${version}.tgz`), ...into]);
    }
    mkdirSync(join(to!, '.bin'));
    symlinkSync('../toolkeel/dist/bin.js', join(to!, '.bin', 'toolkeel'));
    chmodSync(join(to!, 'toolkeel', 'dist', 'bin.js'), 0o755);
    for (const file of ['package.json', 'package-lock.json'])
      cpSync(join(dirs.bundled, file), join(dir, file));
  },
};

/** The commands of a page that are meant to be run, in their order. */
const commandsOf = (page: string): string =>
  [...page.matchAll(/^```sh run\n(.*?)^```$/gms)].map(([, commands = '']) => commands).join('\n');

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};

interface Lock {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
}

describe.each(['bundled', 'unbundled'] as const)(
  'the packages, %s, in an empty directory',
  (way) => {
    const dir = dirs[way];

    beforeAll(() => ways[way](dir), 300_000);

    // npx itself takes longer than the command.
    const command: readonly [string, ...string[]] =
      way === 'bundled' ? ['npx', 'toolkeel'] : [join(dir, 'node_modules', '.bin', 'toolkeel')];
    const toolkeel = (...args: readonly string[]) =>
      start(command[0], [...command.slice(1), ...args], { cwd: dir, env: environment });

    it('are complete, public and need no install script', () => {
      expect([...published()].filter((name) => ours.get(name)?.manifest.private)).toEqual([]);
      const lock = JSON.parse(readFileSync(join(dir, 'package-lock.json'), 'utf8')) as Lock;
      const scripted = Object.entries(lock.packages).filter(([, entry]) => entry.hasInstallScript);
      // Both only print: one an echo, the other a warning about a version. The next test runs without them.
      const printing = ['node_modules/@google/genai', 'node_modules/protobufjs'];
      expect(scripted.map(([path]) => path)).toEqual(printing);
      expect(Object.keys(lock.packages)).toContain('node_modules/toolkeel');
      for (const name of published()) {
        const { dependencies = {} } = readManifest(join(dir, 'node_modules', name));
        const missing = Object.keys(dependencies).filter(
          (dependency) => !existsSync(join(dir, 'node_modules', dependency)),
        );
        expect(missing).toEqual([]);
        const license = join(dir, 'node_modules', name, 'LICENSE');
        expect(readFileSync(license, 'utf8')).toContain('Apache License');
      }
    });

    it('provide `toolkeel up --sandbox`', async () => {
      const up = toolkeel('up', '--sandbox', '--port', '0');
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

    it('provide `toolkeel llm --sandbox`', async () => {
      const llm = toolkeel('llm', 'Why?', '--sandbox', '--provider', 'gemini');
      await llm.waitForOutput(/You asked: Why\?/);
      expect((await llm.ended).code).toBe(0);
    });

    it('provide `toolkeel serve` for clients', async () => {
      const [stac, x] = await Promise.all(
        ['stac', 'x'].map((pack) => overStdio([pack], { cwd: dir, env: environment }, command)),
      );
      expect(await stac?.tools()).toHaveLength(13);
      expect(await x?.tools()).toHaveLength(24);
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
      const version = toolkeel('--version');
      expect(await version.ended).toMatchObject({ code: 0 });
      expect(version.out().trim()).toBe(ours.get('toolkeel')?.manifest.version);
      const check = toolkeel('manifest', '--check');
      expect(await check.ended).toMatchObject({ code: 0 });
    });

    if (way !== 'bundled') return;

    describe('with examples/tickets', () => {
      const here = (command: string, args: readonly string[], env: Record<string, string> = {}) =>
        start(command, args, { cwd: dir, env: { ...environment, ...env } });

      it('declares every package that it imports', () => {
        const { dependencies = {} } = readManifest(example);
        const sources = readdirSync(example).filter((file) => file.endsWith('.js'));
        const imported = sources.flatMap((file) =>
          [...readFileSync(join(example, file), 'utf8').matchAll(/ from '([^.'][^']*)'/g)]
            .map(([, name = '']) => name)
            .filter((name) => !name.startsWith('node:')),
        );
        expect([...new Set(imported)].toSorted()).toEqual(Object.keys(dependencies).toSorted());
      });

      it('passes its own tests', async () => {
        const run = here('npm', ['test']);
        expect({ ...(await run.ended), out: run.out() }).toMatchObject({ code: 0 });
        expect(run.out()).toMatch(/^# pass 3$/m);
      });

      it('creates no ticket twice under 20 kills, by the log of the ticket system', async () => {
        const run = here(process.execPath, ['kill.js', '20']);
        expect({ ...(await run.ended), err: run.err() }).toMatchObject({ code: 0 });
        expect(JSON.parse(run.out())).toEqual({ kills: 20, tickets: 40, duplicates: 0, failed: 0 });
      }, 240_000);

      it('behaves as docs/your-own-server.md says', async () => {
        const page = readFileSync(join(repository, 'docs', 'your-own-server.md'), 'utf8');
        const [port, backend] = [await freePort(), String(await freePort())];
        const script = commandsOf(page).replaceAll('7411', String(port));
        expect(script).toContain('kill -9');
        const env = { PORT: backend, TICKETS_URL: `http://127.0.0.1:${backend}` };
        const run = here('sh', ['-e', '-c', script], env);
        expect({ ...(await run.ended), err: run.err() }).toMatchObject({ code: 0 });
        expect(run.err()).toMatch(/^curl: \((18|52)\)/); // no response, or half of one
        expect(run.out().match(/^created .*$/gm)).toEqual([
          'created T1 The lift is stuck', // as soon as it exists
          'created T1 The lift is stuck', // the whole log, in the end
        ]);
        const [answer = '{}'] = /^\{.*\}$/m.exec(run.out()) ?? [];
        expect(JSON.parse(answer)).toMatchObject({
          result: { structuredContent: { success: true, data: { id: 'T1' } } },
        });
        expect(run.out()).toMatch(/succeeded|reconciled/); // operations list
        expect(readFileSync(join(dir, 'tools.json'), 'utf8')).toContain('"create_ticket"');
      }, 240_000);
    });
  },
);
