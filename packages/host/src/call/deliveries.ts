import type { Envelope } from '@toolkeel/contract';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';

/** Told once, when an answer has reached the client. */
export type Delivered = () => void;

/** An answer that a transport is writing. */
export interface Writing {
  /** The HTTP request that it answers. */
  readonly request: Request | undefined;
  /** The client has it. Of this and `fail` only the first call counts. */
  readonly confirm: () => void;
  readonly fail: () => void;
}

interface Expected {
  readonly delivered: readonly Delivered[];
  readonly request: Request | undefined;
}

/**
 * Links answers to the transports that write them. An answer is recognised by the `meta` object of its
 * envelope: the SDK copies results, but passes the values inside of structured content on as they are.
 * Answers that are never sent (a cancelled request, say) are forgotten with that object.
 */
export class Deliveries {
  readonly #expected = new WeakMap<object, Expected>();
  readonly #report: (cause: unknown) => void;
  #writing = 0;
  #idle: (() => void)[] = [];

  /** `report` gets what callbacks throw. */
  constructor(report: (cause: unknown) => void) {
    this.#report = report;
  }

  /** An answer that is about to be sent, with the callbacks for its delivery. */
  expect(
    { meta }: Pick<Envelope, 'meta'>,
    delivered: readonly Delivered[],
    request: Request | undefined,
  ): void {
    this.#expected.set(meta, { delivered, request });
  }

  /** For a transport that writes a message: undefined where no callback waits for it. */
  readonly begin = (message: JSONRPCMessage): Writing | undefined => {
    const meta = metaOf(message);
    const expected = meta && this.#expected.get(meta);
    if (!meta || !expected) return undefined;
    this.#expected.delete(meta);
    this.#writing++;
    let isSettled = false;
    const settle = (delivered: readonly Delivered[]): void => {
      if (isSettled) return;
      isSettled = true;
      delivered.forEach(this.#tell);
      if (--this.#writing === 0) for (const tell of this.#idle.splice(0)) tell();
    };
    return {
      request: expected.request,
      confirm: () => settle(expected.delivered),
      fail: () => settle([]),
    };
  };

  /** Resolves when the transports have written what was answered, or could not; at the latest after `limitMs`. */
  async settled(limitMs: number): Promise<void> {
    // Between the answer of a call and its transport there are only microtasks.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#writing === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  readonly #tell = (delivered: Delivered): void => {
    try {
      delivered();
    } catch (cause) {
      this.#report(cause);
    }
  };
}

/** The `meta` of the envelope in a message, where it is an answer that holds one. */
function metaOf(message: JSONRPCMessage): object | undefined {
  if (!('result' in message)) return undefined;
  const { structuredContent } = message.result;
  if (typeof structuredContent !== 'object' || structuredContent === null) return undefined;
  const { meta } = structuredContent as { readonly meta?: unknown };
  return typeof meta === 'object' && meta !== null ? meta : undefined;
}
