import { frameOf, objectIn, type Frame, type RequestFrame, type ResponseFrame } from './frame.js';
import type { Link } from './link.js';

type Members = Readonly<Record<string, unknown>>;
type Ask = (method: string, params: Members) => Promise<ResponseFrame | undefined>;

/** What a client has told its server about the session, so that a new server can be told the same. */
export class Handshake {
  initialize: RequestFrame | undefined;
  initialized: Frame | undefined;
  #logLevel: RequestFrame | undefined;
  readonly #subscriptions = new Map<string, RequestFrame>();
  #onDecided: (() => void) | undefined;
  /** Resolves when the revision of the session is decided, or the handshake has failed. */
  decided = this.#undecided();

  #undecided(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDecided = resolve;
    });
  }

  get isDecided(): boolean {
    return this.#onDecided === undefined;
  }

  decide(): void {
    this.#onDecided?.();
    this.#onDecided = undefined;
  }

  /** Remembers a request that a new server needs as well. */
  note(frame: RequestFrame): void {
    const { method, params } = frame.message;
    const uri = params?.['uri'];
    if (method === 'initialize') {
      this.initialize = frame;
      // A client that tries again after a failure.
      if (this.isDecided) this.decided = this.#undecided();
    } else if (method === 'logging/setLevel') this.#logLevel = frame;
    else if (method === 'resources/unsubscribe') this.#subscriptions.delete(String(uri));
    else if (method === 'resources/subscribe' && typeof uri === 'string') {
      this.#subscriptions.set(uri, frame);
    }
  }

  /** Initialises a new server as the first one was. Returns its capabilities. */
  async repeat(link: Link, ask: Ask): Promise<Members> {
    const answered = await ask('initialize', this.initialize?.message.params ?? {});
    const { result } = answered?.message ?? {};
    if (!result) throw new Error('it did not answer initialize');
    link.send(this.initialized ?? frameOf({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    const repeated = [this.#logLevel, ...this.#subscriptions.values()].flatMap((frame) =>
      frame ? [frame.message] : [],
    );
    for (const { method, params = {} } of repeated) await ask(method, params);
    return objectIn(result, 'capabilities');
  }
}
