import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Operation } from '../operation.js';
import type { JournalStore } from '../store/store.js';

/** A proxy in front of an upstream that checks its write requests against the journal. */
export interface WriteWatch {
  /** The URL to use instead of the upstream's. */
  readonly url: string;
  /**
   * Runs a tool call and returns the write requests that arrived meanwhile, for example `POST /orders`.
   * Throws if one of them arrived before an operation of the tool was recorded as sending.
   */
  readonly during: (tool: string, call: () => Promise<unknown>) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * For tests of a pack: verifies that its tools write only inside `operation.send`. Every request other
 * than GET and HEAD counts as a write. One call at a time.
 */
export async function watchWrites(
  upstream: string,
  store: Pick<JournalStore, 'list'>,
): Promise<WriteWatch> {
  let watched: { readonly tool: string; readonly earlier: ReadonlySet<string> } | undefined;
  let writes: string[] = [];
  let early: string[] = [];

  const recorded = async (tool: string): Promise<readonly string[]> =>
    (await store.list({ tool })).filter(isSending).map(({ id }) => id);

  const hold = async ({ method = '', url = '' }: IncomingMessage): Promise<void> => {
    if (!watched || READS.has(method)) return;
    const { tool, earlier } = watched;
    const write = `${method} ${url}`;
    writes.push(write);
    const isRecorded = (await recorded(tool)).some((id) => !earlier.has(id));
    if (!isRecorded) early.push(write);
  };

  const server = createServer((incoming, outgoing) => {
    hold(incoming).then(
      () => forward(upstream, incoming, outgoing),
      () => outgoing.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    during: async (tool, call) => {
      watched = { tool, earlier: new Set(await recorded(tool)) };
      [writes, early] = [[], []];
      try {
        await call();
      } finally {
        watched = undefined;
      }
      if (early.length > 0) {
        throw new Error(
          `${tool} sent ${early.join(', ')} before its operation was recorded as sending: after a crash the act could be repeated. Make the request inside operation.send.`,
        );
      }
      return writes;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isSending({ state, steps }: Operation): boolean {
  return state === 'sending' || steps.some((step) => step.state === 'sending');
}

function forward(upstream: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers, url = '/' } = incoming;
  const { host: _, ...rest } = headers;
  const onward = request(new URL(url, upstream), { method, headers: rest }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}
