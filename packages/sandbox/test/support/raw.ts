import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What came over one connection, byte for byte, and how it ended. */
export interface Heard {
  readonly text: string;
  readonly body: string;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** `fin` is a polite end, `reset` is TCP's RST, `open` is neither in the time given. */
  readonly end: 'fin' | 'reset' | 'open';
  readonly firstByteMs: number | undefined;
  readonly tookMs: number;
  readonly chunks: number;
}

export interface Say {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Promise the body and keep it back. */
  readonly withhold?: boolean;
  /** Say nothing at all. */
  readonly silent?: boolean;
  /** Listen so long at most. */
  readonly patienceMs?: number;
}

/** Talks to a server without a client in between, so that nothing is repaired or hidden. */
export async function talk(url: string, say: Say = {}): Promise<Heard> {
  const { hostname, port, pathname, search } = new URL(say.path ?? '', url);
  const socket = connect({ host: hostname, port: Number(port) });
  const began = performance.now();
  const heard = listen(socket, say.patienceMs ?? 3000, began);
  try {
    await once(socket, 'connect');
  } catch {
    return heard;
  }
  if (!say.silent) socket.write(requestText(say, pathname + search));
  return heard;
}

function requestText(
  { method = 'GET', body = '', headers = {}, withhold }: Say,
  path: string,
): string {
  const all = {
    host: 'sandbox',
    connection: 'close',
    ...(body !== '' && {
      'content-type': 'application/json',
      'content-length': String(body.length),
    }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, '', withhold ? '' : body].join('\r\n');
}

function listen(socket: Socket, patienceMs: number, began: number): Promise<Heard> {
  return new Promise((resolve) => {
    let [text, chunks, firstByteMs] = ['', 0, undefined as number | undefined];
    const finish = (end: Heard['end']): void => {
      clearTimeout(timer);
      socket.destroy();
      const [head = '', ...rest] = text.split('\r\n\r\n');
      const [statusLine = '', ...lines] = head.split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.split(':')[0]?.toLowerCase(), line.replace(/^[^:]*:\s*/, '')]),
      ) as Record<string, string>;
      const status = /^HTTP\/1\.1 (\d+)/.exec(statusLine)?.[1];
      resolve({
        text,
        body: rest.join('\r\n\r\n'),
        status: status === undefined ? undefined : Number(status),
        headers,
        end,
        firstByteMs,
        tookMs: performance.now() - began,
        chunks,
      });
    };
    const timer = setTimeout(() => finish('open'), patienceMs);
    socket.setEncoding('utf8');
    socket.on('data', (data: string) => {
      firstByteMs ??= performance.now() - began;
      chunks += 1;
      text += data;
    });
    socket.once('end', () => finish('fin'));
    socket.once('error', () => finish('reset'));
  });
}
