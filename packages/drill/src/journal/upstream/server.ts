import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface UpstreamOptions {
  /** What happens to the next write. */
  readonly fault?: () => WriteFault | undefined;
  /** Holds a write back at a point until it resolves: for killing the client exactly there. */
  readonly gate?: (point: GatePoint, key: string) => Promise<void>;
  readonly onCommit?: (effect: Effect) => void;
}

/** `received`: all bytes are here. `committed`: it has happened, and nobody knows yet. */
export type GatePoint = 'received' | 'committed';

interface EffectsUpstream {
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

export interface UpstreamSettings {
  /** Where it writes down, line by line, what happened. */
  readonly log: string;
  readonly seed: number;
  /** The share of writes that meet a fault. */
  readonly faultRate: number;
}

export type ToUpstream =
  /** Holds the nth write of this key back at the point. */
  | { readonly kind: 'hold'; readonly point: GatePoint; readonly key: string; readonly nth: number }
  | { readonly kind: 'fault'; readonly fault: WriteFault }
  | { readonly kind: 'go'; readonly key: string }
  | { readonly kind: 'count' };

export type FromUpstream =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'held'; readonly key: string }
  | { readonly kind: 'counts'; readonly counts: EffectCounts };

/** What really happened: the upstream's own log, the witness of every run. */
export interface Effect {
  readonly id: string;
  readonly key: string;
  readonly part: string;
}

export interface EffectCounts {
  /** Everything that was committed. */
  readonly effects: number;
  /** Different acts among them. */
  readonly acts: number;
  /** Acts that were committed more than once. */
  readonly duplicates: number;
}

/** Append-only. An act is a key and a part of it: a thread has several. */
class Effects {
  readonly #byAct = new Map<string, Effect[]>();
  #count = 0;
  #duplicates = 0;

  commit(key: string, part: string): Effect {
    this.#count += 1;
    const effect = { id: `e${this.#count}`, key, part };
    const act = actOf(key, part);
    const known = this.#byAct.get(act);
    if (known === undefined) this.#byAct.set(act, [effect]);
    else {
      if (known.length === 1) this.#duplicates += 1;
      known.push(effect);
    }
    return effect;
  }

  of(key: string, part: string): readonly Effect[] {
    return this.#byAct.get(actOf(key, part)) ?? [];
  }

  get counts(): EffectCounts {
    return { effects: this.#count, acts: this.#byAct.size, duplicates: this.#duplicates };
  }
}

function actOf(key: string, part: string): string {
  return JSON.stringify([key, part]);
}

/** How the upstream treats a write, and whether it has acted by then. */
const writeFaults = Object.freeze({
  'close-before-read': { commits: false },
  'refuse-503': { commits: false },
  'refuse-429': { commits: false },
  'commit-then-close': { commits: true },
  'commit-then-503': { commits: true },
  'commit-then-hang': { commits: true },
  'commit-then-half': { commits: true },
  'commit-then-garbage': { commits: true },
} as const);

export type WriteFault = keyof typeof writeFaults;

export const allWriteFaults = Object.freeze(Object.keys(writeFaults)) as readonly WriteFault[];

/** A small, seeded source of luck: the same seed gives the same storm to every upstream. */
export function luck(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
