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
  #onDecided = (): void => {};
  /** Resolves when the revision of the session is decided. */
  readonly decided = new Promise<void>((resolve) => {
    this.#onDecided = resolve;
  });

  decide(): void {
    this.#onDecided();
  }

  /** Remembers a request that a new server needs as well. */
  note(frame: RequestFrame): void {
    const { method, params } = frame.message;
    const uri = params?.['uri'];
    if (method === 'initialize') this.initialize = frame;
    else if (method === 'logging/setLevel') this.#logLevel = frame;
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
