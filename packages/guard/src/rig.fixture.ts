import { loadConfig } from '@toolkeel/host';
import { upstreamSchema } from './config.js';
import { frameOf, type Frame, type Id, type Message } from './frame.js';
import { createGuard, type Guard, type GuardOptions } from './guard.js';
import type { Connect, Link, LinkEvents } from './link.js';
import type { Route } from './route.js';

type Members = Readonly<Record<string, unknown>>;

/** An upstream in this process: answers the handshake and lists tools; the test decides on the rest. */
export interface FakeUpstream {
  readonly connect: Connect;
  /** Frames that reached the upstream, over all connections. */
  readonly received: Message[];
  /** The lines of calls and prompts, as they reached the upstream. */
  readonly lines: string[];
  /** Calls of tools that reached the upstream, by their id on the wire. */
  readonly calls: { readonly id: Id; readonly name: string; readonly args: Members }[];
  readonly starts: () => number;
  readonly send: (message: Omit<Message, 'jsonrpc'>) => void;
  /** Sends a line as it is. */
  readonly sendLine: (line: string) => void;
  readonly crash: (reason?: string) => void;
}

interface FakeOptions {
  readonly tools?: readonly Members[];
  /** Answers a call; without a return value the call stays open. */
  readonly onCall?: (call: FakeUpstream['calls'][number], upstream: FakeUpstream) => unknown;
  readonly capabilities?: Members;
  /** Handles any other request; undefined for the default. */
  readonly onRequest?: (message: Message, upstream: FakeUpstream) => unknown;
}

export const readTool = {
  name: 'get',
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
};
export const writeTool = { name: 'add', inputSchema: { type: 'object' } };
export const text = (value: string): Members => ({ content: [{ type: 'text', text: value }] });

export function fakeUpstream(options: FakeOptions = {}): FakeUpstream {
  const { tools = [readTool, writeTool], onCall, onRequest } = options;
  const capabilities = options.capabilities ?? { tools: { listChanged: true } };
  const links = new Set<LinkEvents>();
  /** The connection of the message that is being handled, else the newest. */
  let events: LinkEvents | undefined;
  let starts = 0;
  const answer = (id: Id | null | undefined, result: unknown): void =>
    upstream.send({ id: id ?? null, result: result as Members });
  const handle = (message: Message): void => {
    const { id, method, params = {} } = message;
    upstream.received.push(message);
    if (id === undefined || method === undefined) return;
    const special = onRequest?.(message, upstream);
    if (special === 'silent') return;
    if (special !== undefined) return answer(id, special);
    if (method === 'initialize') {
      return answer(id, {
        protocolVersion: params['protocolVersion'],
        capabilities,
        serverInfo: { name: 'fake', version: '1' },
      });
    }
    if (method === 'tools/list') return answer(id, { tools });
    if (method !== 'tools/call') return answer(id, {});
    const call = {
      id: id!,
      name: params['name'] as string,
      args: (params['arguments'] ?? {}) as Members,
    };
    upstream.calls.push(call);
    const result = onCall?.(call, upstream);
    if (result !== undefined) answer(id, result);
  };
  const upstream: FakeUpstream = {
    received: [],
    lines: [],
    calls: [],
    starts: () => starts,
    send: (message) => events?.onFrame(frameOf({ jsonrpc: '2.0', ...message })),
    sendLine: (line) => events?.onFrame({ message: JSON.parse(line) as Message, line }),
    crash: (reason = 'crashed') => {
      const lost = events;
      if (!lost || !links.delete(lost)) return;
      lost.onClosed(reason);
    },
    connect: (given) => {
      starts++;
      events = given;
      links.add(given);
      const link: Link = {
        send: ({ message, line }) => {
          if (!links.has(given)) throw new Error('closed');
          queueMicrotask(() => {
            if (!links.has(given)) return;
            events = given;
            if (/"(tools\/call|prompts\/get)"/.test(line)) upstream.lines.push(line);
            handle(message);
          });
        },
        pause: () => {},
        resume: () => {},
        close: () => {
          if (links.delete(given)) given.onClosed('closed');
          return Promise.resolve();
        },
      };
      return link;
    },
  };
  return upstream;
}

export interface RigOptions extends FakeOptions {
  readonly config?: Members;
  /** Members of the configuration file besides the upstream. */
  readonly settings?: Members;
  readonly upstream?: FakeUpstream;
  readonly env?: NodeJS.ProcessEnv;
}

export interface RigClient {
  readonly session: Route;
  readonly received: Message[];
  readonly lines: string[];
  readonly send: (message: Omit<Message, 'jsonrpc'>) => void;
  /** Sends a request and waits for its answer. */
  readonly ask: (method: string, params?: Members, id?: Id) => Promise<Message>;
  readonly call: (name: string, args?: Members, more?: Members) => Promise<Message>;
  /** Sends a request whose params are given as text, and waits for the line of its answer. */
  readonly askText: (method: string, params: string, id?: Id) => Promise<string>;
  /** Resolves with the next frame that matches. */
  readonly next: (matches: (message: Message) => boolean) => Promise<Message>;
  /** From now on nothing reaches the client. */
  readonly breakConnection: () => void;
}

export interface Rig {
  readonly guard: Guard;
  readonly upstream: FakeUpstream;
  readonly logs: () => readonly Members[];
  /** Connects a client and completes the handshake. */
  readonly client: (capabilities?: Members) => Promise<RigClient>;
  /** Connects a client without a handshake. */
  readonly connect: () => RigClient;
  readonly close: () => Promise<void>;
}

/** A guard in this process, with a journal in memory. */
export function createRig(options: RigOptions = {}): Rig {
  const upstream = options.upstream ?? fakeUpstream(options);
  const config = upstreamSchema.parse(
    options.config?.['url'] === undefined
      ? { command: 'unused', ...options.config }
      : options.config,
  );
  // A command is started as a process.
  const isFake = options.config?.['command'] === undefined && options.config?.['url'] === undefined;
  const connect = isFake ? { connect: upstream.connect } : {};
  return { ...openRig([{ name: 'fake', config, ...connect }], options), upstream };
}

/** One guard in front of several upstreams. */
export function createMultiRig(
  upstreams: Readonly<Record<string, Members & { readonly fake?: FakeUpstream }>>,
  options: Pick<RigOptions, 'settings' | 'env'> = {},
): Omit<Rig, 'upstream'> {
  const given = Object.entries(upstreams).map(([name, { fake, ...config }]) => ({
    name,
    config: upstreamSchema.parse(fake ? { command: 'unused', ...config } : config),
    ...(fake && { connect: fake.connect }),
  }));
  return openRig(given, options);
}

function openRig(
  upstreams: Extract<GuardOptions, { readonly upstreams: unknown }>['upstreams'],
  options: Pick<RigOptions, 'settings' | 'env'>,
): Omit<Rig, 'upstream'> {
  const entries: Members[] = [];
  const env = options.env ?? {};
  const settings = { journal: { url: 'memory:' }, log: { level: 'debug' }, ...options.settings };
  const guard = createGuard({
    loaded: loadConfig({ env, cwd: '/nonexistent', settings }),
    upstreams,
    env,
    log: (_level, event, fields) => void entries.push({ event, ...fields }),
  });
  return {
    guard,
    logs: () => entries,
    connect: () => openClient(guard),
    client: async (capabilities = {}) => {
      const client = openClient(guard);
      await client.ask('initialize', {
        protocolVersion: '2025-11-25',
        capabilities,
        clientInfo: { name: 'test', version: '1' },
      });
      client.send({ method: 'notifications/initialized' });
      return client;
    },
    close: () => guard.close(),
  };
}

export function openClient(guard: Guard): RigClient {
  const received: Message[] = [];
  const lines: string[] = [];
  const waiting = new Set<(message: Message) => void>();
  let isBroken = false;
  let ids = 0;
  const session = guard.open({
    send: ({ message, line }: Frame, written) => {
      if (isBroken) return written?.(false);
      received.push(message);
      lines.push(line);
      waiting.forEach((check) => check(message));
      written?.(true);
    },
    pause: () => {},
    resume: () => {},
  });
  const next: RigClient['next'] = (matches) =>
    new Promise((resolve) => {
      const check = (message: Message): void => {
        if (!matches(message)) return;
        waiting.delete(check);
        resolve(message);
      };
      waiting.add(check);
    });
  const send: RigClient['send'] = (message) =>
    session.receive(frameOf({ jsonrpc: '2.0', ...message }));
  const ask: RigClient['ask'] = (method, params = {}, id = ++ids) => {
    const answered = next((message) => message.id === id && message.method === undefined);
    send({ id, method, params });
    return answered;
  };
  const askText: RigClient['askText'] = async (method, params, id = ++ids) => {
    const answered = next((message) => message.id === id && message.method === undefined);
    const line = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"${method}","params":${params}}`;
    session.receive({ message: JSON.parse(line) as Message, line });
    return lines[received.indexOf(await answered)]!;
  };
  return {
    session,
    received,
    lines,
    askText,
    send,
    ask,
    next,
    call: (name, args = {}, more = {}) => ask('tools/call', { name, arguments: args, ...more }),
    breakConnection: () => {
      isBroken = true;
      session.disconnect();
    },
  };
}
