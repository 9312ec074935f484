import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface UpstreamOptions {
  /** The fault of the next write. */
  readonly fault?: () => WriteFault | undefined;
  /** Holds a write at a point until it resolves, so that the client can be killed there. */
  readonly gate?: (point: GatePoint, key: string) => Promise<void>;
  readonly onCommit?: (effect: Effect) => void;
}

/** `received`: the whole request has arrived. `committed`: executed, but not answered. */
export type GatePoint = 'received' | 'committed';

interface EffectsUpstream {
  readonly url: string;
  readonly effects: Effects;
  readonly close: () => Promise<void>;
}

/**
 * An upstream without idempotency keys. `POST /acts` commits every write; `GET /acts?key=&part=` lists
 * committed writes after it has awaited in-flight writes of that act, so that an empty list proves that
 * the write was not executed.
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
    const act = actOf(key, part);
    if (request.method === 'POST') {
      const before = writing.get(act) ?? Promise.resolve();
      const written = write(request, response, { key, part, effects, options });
      const settled = Promise.all([before, written]).then(() => {
        if (writing.get(act) === settled) writing.delete(act);
      });
      writing.set(act, settled);
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
  if (fault === 'refuse-503') return answer(response, 503, { title: 'unavailable' });
  if (fault === 'refuse-429') return answer(response, 429, { title: 'rate limited' });
  const effect = effects.commit(key, part);
  options.onCommit?.(effect);
  await options.gate?.('committed', key);
  respond(fault, response, effect);
}

/** Answers a committed write, as far as the fault allows. */
function respond(fault: WriteFault | undefined, response: ServerResponse, effect: unknown): void {
  const text = JSON.stringify(effect);
  switch (fault) {
    case 'commit-then-close':
      response.socket?.resetAndDestroy();
      return;
    case 'commit-then-503':
      return answer(response, 503, { title: 'unavailable' });
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
  /** The file to which every committed write is appended. */
  readonly log: string;
  readonly seed: number;
  /** The share of writes with a fault. */
  readonly faultRate: number;
}

export type ToUpstream =
  /** Holds the nth write of this key at the point. */
  | { readonly kind: 'hold'; readonly point: GatePoint; readonly key: string; readonly nth: number }
  | { readonly kind: 'fault'; readonly fault: WriteFault }
  | { readonly kind: 'release'; readonly key: string }
  | { readonly kind: 'count' };

export type FromUpstream =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'held'; readonly key: string }
  | { readonly kind: 'counts'; readonly counts: EffectCounts };

/** A committed write. The upstream's log of effects is the ground truth of every run. */
export interface Effect {
  readonly id: string;
  readonly key: string;
  readonly part: string;
}

export interface EffectCounts {
  /** Committed writes. */
  readonly effects: number;
  /** Distinct acts. */
  readonly acts: number;
  /** Acts that were committed more than once. */
  readonly duplicates: number;
}

/** Append-only. An act is a key and a part, because an operation may have several parts. */
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

/** Faults of a write. `commit-then-…`: the write is committed, but its answer is lost or invalid. */
export const writeFaults = [
  'close-before-read',
  'refuse-503',
  'refuse-429',
  'commit-then-close',
  'commit-then-503',
  'commit-then-hang',
  'commit-then-half',
  'commit-then-garbage',
] as const;

export type WriteFault = (typeof writeFaults)[number];
