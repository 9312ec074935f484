/** JSON-RPC frames as they arrived, and what is wrong with them. */
export interface Frame {
  readonly jsonrpc?: unknown;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: CallResult;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

interface CallResult {
  readonly [name: string]: unknown;
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export type Revision = '2025-11-25' | '2026-07-28';
export const revisions: readonly Revision[] = ['2025-11-25', '2026-07-28'];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What JSON-RPC 2.0 and MCP forbid in a frame from a server. */
const problemOf = (frame: unknown): string | undefined => {
  if (!isObject(frame)) return 'is no object';
  if (frame['jsonrpc'] !== '2.0') return 'has no jsonrpc: "2.0"';
  const hasId = typeof frame['id'] === 'string' || Number.isInteger(frame['id']);
  if ('method' in frame) {
    if (typeof frame['method'] !== 'string') return 'has a method that is no string';
    if ('result' in frame || 'error' in frame) return 'is a request and a response';
    return 'id' in frame && !hasId ? 'has an invalid id' : undefined;
  }
  if (!hasId) return 'is a response without an id';
  if ('result' in frame === 'error' in frame) return 'has not exactly one of result and error';
  if ('result' in frame) return isObject(frame['result']) ? undefined : 'has an invalid result';
  const { error } = frame;
  const isValid =
    isObject(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string';
  return isValid ? undefined : 'has an invalid error';
};

/** Answers the requests of a server. */
const respond = ({ method }: Frame): Record<string, unknown> => {
  if (method === 'sampling/createMessage')
    return { role: 'assistant', model: 'test', content: { type: 'text', text: 'sampled' } };
  if (method === 'elicitation/create') return { action: 'accept', content: { name: 'elicited' } };
  return method === 'roots/list' ? { roots: [{ uri: 'file:///guarded', name: 'guarded' }] } : {};
};

/** Collects the frames of one connection, matches answers with requests and notes violations of the protocol. */
export class Inbox {
  readonly notifications: Frame[] = [];
  readonly problems: string[] = [];
  readonly #waiting = new Map<string | number, (frame: Frame) => void>();
  readonly #answered = new Set<string | number>();
  readonly #listeners = new Set<(frame: Frame) => void>();

  /** Reads a frame; returns the answer if it is a request. */
  accept(text: string): Frame | undefined {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      this.problems.push(`not JSON: ${text.slice(0, 200)}`);
      return undefined;
    }
    const problem = problemOf(parsed);
    if (problem !== undefined) this.problems.push(`${problem}: ${text.slice(0, 300)}`);
    if (!isObject(parsed)) return undefined;
    const frame = parsed as Frame;
    if (frame.method === undefined) this.#settle(frame, text);
    else if (frame.id === undefined) {
      this.notifications.push(frame);
      for (const listener of this.#listeners) listener(frame);
    } else return { jsonrpc: '2.0', id: frame.id, result: respond(frame) };
    return undefined;
  }

  waitFor(id: string | number): Promise<Frame> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** Resolves with the first notification of the method, also if it arrived before. */
  notified(method: string): Promise<Frame> {
    const found = this.notifications.find((frame) => frame.method === method);
    if (found) return Promise.resolve(found);
    return new Promise((resolve) => {
      const listener = (frame: Frame): void => {
        if (frame.method !== method) return;
        this.#listeners.delete(listener);
        resolve(frame);
      };
      this.#listeners.add(listener);
    });
  }

  /** The requests without an answer. */
  open(): (string | number)[] {
    return [...this.#waiting.keys()];
  }

  forget(id: string | number): void {
    this.#waiting.delete(id);
    this.#answered.add(id);
  }

  #settle(frame: Frame, text: string): void {
    const id = frame.id ?? '';
    const settle = this.#waiting.get(id);
    if (settle === undefined) {
      const how = this.#answered.has(id) ? 'answered twice' : 'answers no request';
      this.problems.push(`${how}: ${text.slice(0, 300)}`);
      return;
    }
    this.#waiting.delete(id);
    this.#answered.add(id);
    settle(frame);
  }
}
