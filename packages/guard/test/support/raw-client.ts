import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Inbox, type Frame, type Revision } from './frames.js';

const prefix = 'io.modelcontextprotocol';
const clientInfo = { name: 'raw', version: '1.0.0' };
const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };

interface RequestOptions {
  readonly id?: string | number;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** HTTP: ends the request, as a client does that goes away. */
  readonly signal?: AbortSignal;
}

/** A client that reads and writes frames itself, so that it sees what an SDK would hide. */
export interface RawClient {
  readonly inbox: Inbox;
  readonly revision: Revision;
  readonly request: (
    method: string,
    params?: Record<string, unknown>,
    options?: RequestOptions,
  ) => Promise<Frame>;
  readonly call: (
    name: string,
    args?: Record<string, unknown>,
    options?: RequestOptions,
  ) => Promise<Frame>;
  readonly notify: (method: string, params?: Record<string, unknown>) => Promise<void>;
  readonly stderr: () => string;
  readonly pid: number | undefined;
  /** Ends stdin or the session, and waits for the process. */
  readonly close: () => Promise<void>;
  readonly kill: (signal: NodeJS.Signals) => Promise<void>;
}

let lastId = 0;

type Transport = Pick<RawClient, 'inbox' | 'stderr' | 'pid' | 'close' | 'kill'> & {
  readonly post: (frame: Frame, signal?: AbortSignal) => Promise<void>;
};

const clientOf = async (transport: Transport, revision: Revision): Promise<RawClient> => {
  const { inbox, post, ...rest } = transport;
  const isModern = revision === '2026-07-28';
  const claim = {
    [`${prefix}/protocolVersion`]: revision,
    [`${prefix}/clientCapabilities`]: capabilities,
    [`${prefix}/clientInfo`]: clientInfo,
  };
  const withMeta = (params: Record<string, unknown>, meta: Readonly<Record<string, unknown>>) => {
    const _meta = { ...(params['_meta'] as object | undefined), ...(isModern && claim), ...meta };
    return Object.keys(_meta).length > 0 ? { ...params, _meta } : params;
  };
  const request: RawClient['request'] = async (method, params = {}, options = {}) => {
    const { id = (lastId += 1), meta = {}, signal } = options;
    const answer = inbox.waitFor(id);
    const sent = post({ jsonrpc: '2.0', id, method, params: withMeta(params, meta) }, signal);
    return Promise.race([answer, sent.then(() => answer)]);
  };
  const notify: RawClient['notify'] = (method, params = {}) =>
    post({ jsonrpc: '2.0', method, params: withMeta(params, {}) });
  if (isModern) await request('server/discover');
  else {
    await request('initialize', { protocolVersion: revision, capabilities, clientInfo });
    await notify('notifications/initialized');
  }
  return {
    ...rest,
    inbox,
    revision,
    request,
    call: (name, args = {}, options = {}) =>
      request('tools/call', { name, arguments: args }, options),
    notify,
  };
};

export interface Program {
  readonly command: readonly [file: string, ...args: string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export const rawStdio = async (
  { command: [file, ...args], env, cwd }: Program,
  revision: Revision,
): Promise<RawClient> => {
  const child = spawn(file, args, { env, cwd, stdio: 'pipe' });
  const ended = once(child, 'close');
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => {}); // the end of the process is what counts
  const inbox = new Inbox();
  const post = (frame: Frame): Promise<void> =>
    new Promise((resolve) => void child.stdin.write(`${JSON.stringify(frame)}\n`, () => resolve()));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = inbox.accept(line);
    if (answer) void post(answer);
  });
  const failed = ended.then(() => {
    throw new Error(`${[file, ...args].join(' ')} ended before it was connected:\n${stderr}`);
  });
  failed.catch(() => {});
  const transport: Transport = {
    inbox,
    post,
    stderr: () => stderr,
    pid: child.pid,
    close: async () => {
      child.stdin.end();
      await ended;
    },
    kill: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
  return Promise.race([clientOf(transport, revision), failed]);
};

/** Reads the events of a stream; the text of each is one frame. */
const readEvents = async (response: Response, onData: (data: string) => void): Promise<void> => {
  let unread = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    unread += decoder.decode(chunk, { stream: true });
    for (let end = unread.indexOf('\n\n'); end >= 0; end = unread.indexOf('\n\n')) {
      const event = unread.slice(0, end).split('\n');
      unread = unread.slice(end + 2);
      const data = event
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart());
      if (data.join('') !== '') onData(data.join('\n'));
    }
  }
};

const namedParameter: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

export const rawHttp = async (url: string, revision: Revision): Promise<RawClient> => {
  const inbox = new Inbox();
  const ended = new AbortController();
  let session: string | undefined;
  const headers = (): Record<string, string> => ({
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
    ...(session !== undefined && { 'mcp-session-id': session }),
  });
  const onData = (text: string): void => {
    const answer = inbox.accept(text);
    if (answer) void post(answer);
  };
  const post: Transport['post'] = async (frame, signal) => {
    const named = namedParameter[frame.method ?? ''];
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...headers(),
        'content-type': 'application/json',
        ...(revision === '2026-07-28' && { 'mcp-method': frame.method ?? '' }),
        ...(named !== undefined && { 'mcp-name': String(frame.params?.[named]) }),
      },
      body: JSON.stringify(frame),
      signal: signal ?? ended.signal,
    });
    session ??= response.headers.get('mcp-session-id') ?? undefined;
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) await readEvents(response, onData);
    else {
      const text = await response.text();
      if (text !== '') onData(text);
    }
    if (frame.method !== undefined && frame.id != null && inbox.open().includes(frame.id))
      throw new Error(`no answer to ${JSON.stringify(frame)}: HTTP ${response.status}`);
  };
  const close = async (): Promise<void> => {
    if (session !== undefined) await fetch(url, { method: 'DELETE', headers: headers() });
    ended.abort();
  };
  const client = await clientOf(
    { inbox, post, stderr: () => '', pid: undefined, close, kill: close },
    revision,
  );
  if (session !== undefined) {
    const stream = await fetch(url, { headers: headers(), signal: ended.signal });
    void readEvents(stream, onData).catch(() => {});
  }
  return client;
};
