import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defineTool,
  faulted,
  upstreamCodes,
  type Envelope,
  type Pack,
  type PackDeps,
  type Tool,
} from '@toolkeel/contract';
import { openServer, type ConsoleExtras, type OpenedServer } from '@toolkeel/host';
import { FaultError, upstream, withResilience, type Fault } from '@toolkeel/kernel';
import { afterEach, onTestFinished } from 'vitest';
import * as z from 'zod';

/** What the upstream does with the next requests; then it works. */
type Plan = Fault | 'lose';

/** An upstream whose faults the test chooses, and its ground truth. */
class Shop {
  readonly posts: string[] = [];
  readonly plans: Plan[] = [];
  /** Whether the read-back can be trusted. */
  isReadable = true;
  /** Answers to reads wait for it. */
  gate: Promise<void> | undefined;

  async send(text?: string): Promise<{ id: string }> {
    await this.gate;
    const plan = this.plans.shift();
    if (text !== undefined && (plan === undefined || plan === 'lose')) this.posts.push(text);
    if (plan === 'lose') throw new FaultError({ kind: 'network', sent: 'maybe' });
    if (plan) throw new FaultError(plan);
    return { id: `p${this.posts.length}` };
  }
}

const policy = {
  maxRetries: 2,
  initialBackoffMs: 20,
  maxBackoffMs: 20,
  backoffMultiplier: 1,
  jitter: 'none',
  breaker: {
    failureShare: 0.5,
    minimumAttempts: 4,
    windowMs: 60_000,
    openAfterMs: 0,
    openMs: 60_000,
    maxOpenMs: 60_000,
    probes: 1,
  },
} as const;

function toolsOf(
  shop: Shop,
  deps?: PackDeps,
  state = upstream('api.shop.test', policy),
): readonly Tool[] {
  const call = (effect: 'read' | 'once') =>
    withResilience((text: string | undefined) => shop.send(text), policy, {
      name: 'shop',
      effect,
      upstream: state,
      classify: (): Fault => ({ kind: 'unexpected', sent: 'maybe' }),
      ...(deps && { listener: deps.observe }),
    });
  const [read, once] = [call('read'), call('once')];
  const shared = {
    title: 'Shop',
    description: 'Acts in a shop.',
    output: z.object({ id: z.string() }),
    errors: upstreamCodes,
  } as const;
  return [
    defineTool({
      ...shared,
      name: 'shop_post',
      category: 'write',
      effect: 'once',
      profiles: ['api', 'workflow'],
      sensitive: ['card'],
      input: z.object({ text: z.string().max(100), card: z.string().optional() }),
      estimateCost: () => ({ amount: 0.01, unit: 'USD' }),
      reconcile: {
        authoritative: true,
        actsWithinMs: 0,
        readBack: async ({ args }) => {
          if (!shop.isReadable) return { found: 'unknown' };
          const at = shop.posts.indexOf(args.text);
          return at < 0 ? { found: 'absent' } : { found: 'executed', data: { id: `p${at + 1}` } };
        },
      },
      handler: async ({ text }, { deadline, correlationId }) => {
        const outcome = await once.outcome(text, { deadline, correlationId });
        return outcome.ok ? outcome.value : faulted(outcome.fault);
      },
    }),
    defineTool({
      ...shared,
      name: 'shop_look',
      category: 'read',
      effect: 'read',
      profiles: ['readonly', 'api', 'workflow'],
      input: z.object({ at: z.string().optional() }),
      handler: async (_args, { deadline, correlationId }) => {
        const outcome = await read.outcome(undefined, { deadline, correlationId });
        return outcome.ok ? outcome.value : faulted(outcome.fault);
      },
    }),
  ];
}

function packOf(shop: Shop): Pack {
  return {
    name: 'shop',
    configSchema: z.strictObject({}),
    describe: () =>
      toolsOf(shop).map(
        ({ handler: _, reconcile: _reconcile, estimateCost: _cost, ...spec }) => spec,
      ),
    create: async (_config, deps) => {
      const state = upstream('api.shop.test', policy);
      return {
        tools: toolsOf(shop, deps, state),
        upstreams: () => [state],
        health: () => Promise.resolve({ ok: true, detail: 'open' }),
        close: () => Promise.resolve(),
      };
    },
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export interface RigOptions {
  readonly config?: object;
  readonly env?: Record<string, string>;
  readonly extras?: ConsoleExtras;
  readonly dir?: string;
  readonly shop?: Shop;
}

const opened: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-console-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A folder like that of the built page. */
function fakePage(dir: string): string {
  const files = join(dir, 'page');
  mkdirSync(join(files, 'assets'), { recursive: true });
  writeFileSync(join(files, 'index.html'), '<!doctype html><title>Console</title>');
  writeFileSync(join(files, 'assets', 'app-1a2b.js'), 'document.title;');
  writeFileSync(join(dir, 'secret.txt'), 'secret');
  return files;
}

async function open({ dir = tempDir(), shop = new Shop(), ...options }: RigOptions) {
  const { config = {}, env = {} } = options;
  const file = join(dir, 'toolkeel.config.json');
  const whole = {
    dataDir: 'data',
    profile: 'workflow',
    http: { port: 0 },
    packs: { shop: {} },
    ...config,
  };
  writeFileSync(file, JSON.stringify(whole));
  const server = await openServer({
    env: { ...env },
    cwd: dir,
    packs: [{ pack: packOf(shop) }],
    writeLog: () => undefined,
  });
  return { dir, shop, server };
}

/** A server over HTTP with the console, an operator and an agent. */
export async function startConsole(options: RigOptions = {}) {
  const { dir, shop, server } = await open(options);
  const page = options.extras ?? { files: fakePage(dir) };
  const { url, consoleLink, consoleToken, close } = await server.listen({ console: page });
  opened.push({ close });
  const { readFileSync } = await import('node:fs');
  const file = consoleToken && 'file' in consoleToken ? consoleToken.file : '';
  const token = readFileSync(file, 'utf8').trim();
  const agentToken = options.env?.['TOOLKEEL_HTTP_TOKEN'];
  return {
    dir,
    shop,
    server,
    url,
    token,
    link: () => consoleLink?.() ?? '',
    close,
    signIn: (name?: string) => signIn(url, consoleLink?.() ?? '', name),
    script: operatorOf(url, { authorization: `Bearer ${token}` }),
    agent: agentOf(url, agentToken),
  };
}

/** The same journal in another process of the operating system's view: a server on stdio. */
export async function openBeside(
  options: RigOptions & { readonly dir: string },
): Promise<OpenedServer> {
  const { server } = await open(options);
  opened.push({ close: server.close });
  return server;
}

export function codeOf(link: string): string {
  return new URL(link).hash.replace('#login=', '');
}

/** Signs in like the page: the cookie is sent by the browser, together with the origin. */
export async function signIn(url: string, link: string, name?: string) {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ code: codeOf(link), ...(name !== undefined && { name }) }),
  });
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const body = (await response.json()) as Record<string, unknown>;
  return {
    status: response.status,
    headers: response.headers,
    body,
    cookie,
    ...operatorOf(url, { cookie, origin: url }),
  };
}

export function operatorOf(url: string, headers: Record<string, string>) {
  const send = async (path: string, init: RequestInit = {}): Promise<Reply> => {
    const response = await fetch(`${url}/api${path}`, {
      ...init,
      headers: { ...headers, ...(init.headers as Record<string, string>) },
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    const body = (isJson ? JSON.parse(text.split('\n')[0] ?? '{}') : { text }) as Reply['body'];
    return { status: response.status, headers: response.headers, body };
  };
  return {
    get: (path: string) => send(path),
    post: (path: string, body: unknown, more: Record<string, string> = {}) =>
      send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...more },
        body: JSON.stringify(body),
      }),
  };
}

function agentOf(url: string, token: string | undefined) {
  return async (name: string, args: object): Promise<Envelope<{ id: string }>> => {
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
    });
    const { result } = (await response.json()) as {
      result: { structuredContent: Envelope<{ id: string }> };
    };
    return result.structuredContent;
  };
}

/** With headers that `fetch` does not let a program set, such as Host. */
export function rawGet(
  url: string,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject);
    request.end();
  });
}

export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads server-sent events until `isDone`. */
export async function readEvents(
  url: string,
  path: string,
  headers: Record<string, string>,
  isDone: (event: StreamEvent, all: readonly StreamEvent[]) => boolean,
): Promise<readonly StreamEvent[]> {
  const response = await fetch(`${url}/api${path}`, { headers });
  const events: StreamEvent[] = [];
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string): string =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? '';
      const event = {
        id: field('id'),
        event: field('event'),
        data: JSON.parse(field('data')) as Record<string, unknown>,
      };
      events.push(event);
      if (isDone(event, events)) {
        return events;
      }
    }
  }
  return events;
}
