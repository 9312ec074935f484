import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Effects, type Effect } from './effects.js';
import type { WriteFault } from './fault.js';

export interface UpstreamOptions {
  /** What happens to the next write. */
  readonly fault?: () => WriteFault | undefined;
  /** Holds a write back at a point until it resolves: for killing the client exactly there. */
  readonly gate?: (point: GatePoint, key: string) => Promise<void>;
  readonly onCommit?: (effect: Effect) => void;
}

/** `received`: all bytes are here. `committed`: it has happened, and nobody knows yet. */
export type GatePoint = 'received' | 'committed';

export interface EffectsUpstream {
  readonly url: string;
  readonly effects: Effects;
  readonly close: () => Promise<void>;
}

/**
 * An upstream without idempotency keys of its own. `POST /acts` acts whenever it is asked to;
 * `GET /acts?key=&part=` tells what was done, and waits for writes of that act which are under way:
 * not finding it is proof that it did not happen.
 */
export async function startEffectsUpstream(
  options: UpstreamOptions = {},
): Promise<EffectsUpstream> {
  const effects = new Effects();
  const writing = new Map<string, Promise<void>>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://upstream');
    const key = url.searchParams.get('key') ?? '';
    const part = url.searchParams.get('part') ?? '';
    const act = JSON.stringify([key, part]);
    if (request.method === 'POST') {
      const before = writing.get(act) ?? Promise.resolve();
      const written = write(request, response, { key, part, effects, options });
      const both = Promise.all([before, written]).then(() => {
        if (writing.get(act) === both) writing.delete(act);
      });
      writing.set(act, both);
      return;
    }
    void (writing.get(act) ?? Promise.resolve()).then(() =>
      answer(response, 200, effects.of(key, part)),
    );
  });
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    effects,
    close: () => closed(server),
  };
}

interface Write {
  readonly key: string;
  readonly part: string;
  readonly effects: Effects;
  readonly options: UpstreamOptions;
}

async function write(request: IncomingMessage, response: ServerResponse, act: Write) {
  const { key, part, effects, options } = act;
  const fault = options.fault?.();
  if (fault === 'close-before-read') {
    request.socket.destroy();
    return;
  }
  if (!(await received(request))) return;
  await options.gate?.('received', key);
  if (fault === 'refuse-503') return answer(response, 503, { title: 'not now' });
  if (fault === 'refuse-429') return answer(response, 429, { title: 'too fast' });
  const effect = effects.commit(key, part);
  options.onCommit?.(effect);
  await options.gate?.('committed', key);
  tell(fault, response, effect);
}

/** The answer to a write that has happened, or what a fault leaves of it. */
function tell(fault: WriteFault | undefined, response: ServerResponse, effect: unknown): void {
  const text = JSON.stringify(effect);
  switch (fault) {
    case 'commit-then-close':
      response.socket?.resetAndDestroy();
      return;
    case 'commit-then-503':
      return answer(response, 503, { title: 'lost my mind' });
    case 'commit-then-hang':
      return;
    case 'commit-then-half':
      response.writeHead(201, { 'content-length': text.length });
      response.write(text.slice(0, text.length / 2), () => response.socket?.resetAndDestroy());
      return;
    case 'commit-then-garbage':
      response.writeHead(201).end('<html>created</html>');
      return;
    default:
      answer(response, 201, effect);
  }
}

/** Whether the whole request arrived. */
function received(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    request.once('end', () => resolve(true));
    request.once('close', () => resolve(false));
    request.resume();
  });
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
