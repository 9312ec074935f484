import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { shopLine } from '../../src/fixtures/shop.fixture.js';
import { addPack } from '../../src/packs.js';
import { run } from '../../src/run.js';
import { fakeRuntime, useTempDir } from '../../src/runtime.fixture.js';
import { overStdio, type Connected } from './client.js';
import { endAll, start, type Running } from './process.js';
import { startShop, type ShopUpstream } from './shop-upstream.js';

const shopBin = fileURLToPath(new URL('../../dist/fixtures/shop-bin.fixture.js', import.meta.url));

export interface World {
  readonly dir: () => string;
  readonly data: (name: string) => string;
  readonly shop: () => ShopUpstream;
  /** Writes the configuration. Servers that run already keep theirs. */
  readonly configure: (config: object) => void;
  /** A server on stdio, as an agent's client starts it. */
  readonly serve: (through?: readonly [string, ...string[]]) => Promise<Connected>;
  readonly up: (env?: Record<string, string>) => Promise<Running & { readonly url: string }>;
  /** The command with these words, to its end. */
  readonly command: (
    ...args: readonly string[]
  ) => Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  /** The same with a person at the terminal, who says this to every question. */
  readonly personSays: (
    answer: boolean,
    ...args: readonly string[]
  ) => Promise<{ readonly code: number; readonly out: string }>;
  /** The same as a process of its own. */
  readonly process: (args: readonly string[], env?: Record<string, string>) => Running;
}

/** A folder, a shop and what runs in them, new for every test. */
export function useWorld(): World {
  const dir = useTempDir();
  let upstream: ShopUpstream | undefined;
  let clients: Connected[] = [];
  let removePack: (() => void) | undefined;
  beforeAll(() => {
    removePack = addPack('shop', shopLine);
  });
  afterAll(() => removePack?.());
  beforeEach(async () => {
    upstream = await startShop();
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close().catch(() => undefined)));
    clients = [];
    await endAll();
    await upstream?.close();
  });

  const place = (env: Record<string, string> = {}) => ({ cwd: dir(), env });
  const shop = (): ShopUpstream => upstream!;
  const process_ = (args: readonly string[], env?: Record<string, string>): Running =>
    start(process.execPath, [shopBin, ...args], place(env));
  return {
    dir,
    shop,
    data: (name) => join(dir(), 'data', name),
    configure: (config) => {
      const file = join(dir(), 'toolkeel.config.json');
      const whole = { dataDir: 'data', packs: { shop: { url: shop().url } }, ...config };
      writeFileSync(file, JSON.stringify(whole));
    },
    serve: async (through) => {
      const [first, ...rest] = [...(through ?? []), process.execPath, shopBin];
      const client = await overStdio([], place(), [first ?? '', ...rest]);
      clients.push(client);
      return client;
    },
    up: async (env) => {
      const running = process_(['up', '--port', '0'], env);
      await running.waitForOutput(/Ctrl-C stops it/);
      const [, url = ''] = /MCP +(http:\S+)\/mcp/.exec(running.out()) ?? [];
      return { ...running, url };
    },
    command: async (...args) => {
      const runtime = fakeRuntime({ cwd: dir() });
      const code = await run(args, runtime);
      return { code, out: runtime.output(), err: runtime.errorOutput() };
    },
    personSays: async (answer, ...args) => {
      const confirm = () => Promise.resolve(answer);
      const runtime = fakeRuntime({ cwd: dir(), isInteractive: true, confirm });
      return { code: await run(args, runtime), out: runtime.output() };
    },
    process: process_,
  };
}
