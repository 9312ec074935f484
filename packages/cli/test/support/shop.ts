import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach } from 'vitest';
import { run } from '../../src/run.js';
import { fakeRuntime, useTempDir } from '../../src/runtime.fixture.js';
import { overStdio, type Connected } from './client.js';
import { bin, endAll, toolkeel, type Running } from './process.js';

/** The behaviour for the next request. `hang` waits for `release`. */
type Plan = 'answer' | 'hang' | 'commit and break' | 'break';

interface ShopUpstream {
  readonly url: string;
  /** The committed effects, in order: the ground truth. */
  readonly effects: readonly string[];
  readonly next: (...plans: readonly Plan[]) => void;
  /** Responds to the hanging requests. */
  readonly release: () => void;
  readonly hanging: () => number;
  readonly close: () => Promise<void>;
}

async function startShop(): Promise<ShopUpstream> {
  const effects: string[] = [];
  const plans: Plan[] = [];
  const waiting: (() => void)[] = [];
  const commit = (subject: string) => ({ id: `e${effects.push(subject)}` });
  const json = (response: ServerResponse, body: unknown) => response.end(JSON.stringify(body));

  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      const wanted = new URL(request.url ?? '', 'http://x').searchParams.get('subject');
      const found = effects.flatMap((effect, at) =>
        effect === wanted ? [{ id: `e${at + 1}` }] : [],
      );
      json(response, found);
      return;
    }
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { subject } = JSON.parse(body) as { subject: string };
      const plan = plans.shift();
      if (plan === 'hang') waiting.push(() => json(response, commit(subject)));
      else if (plan === 'break') request.socket.destroy();
      else if (plan === 'commit and break') {
        commit(subject);
        request.socket.destroy();
      } else json(response, commit(subject));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    effects,
    next: (...more) => void plans.push(...more),
    release: () => waiting.splice(0).forEach((answer) => answer()),
    hanging: () => waiting.length,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A pack that the command does not know, as built: in this process its libraries are other copies. */
const shopModule = fileURLToPath(new URL('../../dist/fixtures/shop.fixture.js', import.meta.url));

interface ShopEnvironment {
  readonly dir: () => string;
  readonly data: (name: string) => string;
  readonly shop: () => ShopUpstream;
  /** Writes the configuration for servers that start later. */
  readonly configure: (config: object) => void;
  /** Starts a server on stdio, like the client of an agent. */
  readonly serve: (through?: readonly [string, ...string[]]) => Promise<Connected>;
  readonly up: (env?: Record<string, string>) => Promise<Running & { readonly url: string }>;
  /** Runs a command in this process. */
  readonly command: (
    ...args: readonly string[]
  ) => Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  /** The same with a terminal that answers every prompt. */
  readonly answerPrompt: (
    answer: boolean,
    ...args: readonly string[]
  ) => Promise<{ readonly code: number; readonly out: string }>;
  /** The same in a child process. */
  readonly process: (args: readonly string[], env?: Record<string, string>) => Running;
}

/** A directory, an upstream and their processes, new for every test. */
export function useShop(): ShopEnvironment {
  const dir = useTempDir();
  let upstream: ShopUpstream | undefined;
  let clients: Connected[] = [];
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
    toolkeel(args, place(env));
  return {
    dir,
    shop,
    data: (name) => join(dir(), 'data', name),
    configure: (config) => {
      const file = join(dir(), 'toolkeel.config.json');
      const packs = { shop: { module: shopModule, url: shop().url } };
      const whole = { dataDir: 'data', packs, ...config };
      writeFileSync(file, JSON.stringify(whole));
    },
    serve: async (through) => {
      const [first, ...rest] = [...(through ?? []), process.execPath, bin];
      const client = await overStdio([], place(), [first ?? '', ...rest]);
      clients.push(client);
      return client;
    },
    up: async (env) => {
      const running = process_(['up', '--port', '0'], env);
      await running.waitForOutput(/Press Ctrl-C to stop/);
      const [, url = ''] = /MCP +(http:\S+)\/mcp/.exec(running.out()) ?? [];
      return { ...running, url };
    },
    command: async (...args) => {
      const runtime = fakeRuntime({ cwd: dir() });
      const code = await run(args, runtime);
      return { code, out: runtime.output(), err: runtime.errorOutput() };
    },
    answerPrompt: async (answer, ...args) => {
      const confirm = () => Promise.resolve(answer);
      const runtime = fakeRuntime({ cwd: dir(), isInteractive: true, confirm });
      return { code: await run(args, runtime), out: runtime.output() };
    },
    process: process_,
  };
}
