import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The bytes received on one connection, and its end. */
export interface RawResponse {
  readonly text: string;
  readonly body: string;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** `fin`, `reset` (RST), or `open` if neither arrived before the timeout. */
  readonly end: 'fin' | 'reset' | 'open';
  readonly firstByteMs: number | undefined;
  readonly tookMs: number;
  readonly chunks: number;
}

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Declare the body without sending it. */
  readonly withhold?: boolean;
  /** Send nothing. */
  readonly silent?: boolean;
  /** Default: 3000. */
  readonly timeoutMs?: number;
}

/** Sends a request over a plain socket, because HTTP clients hide malformed responses. */
export async function sendRaw(url: string, request: RawRequest = {}): Promise<RawResponse> {
  const { hostname, port, pathname, search } = new URL(request.path ?? '', url);
  const socket = connect({ host: hostname, port: Number(port) });
  const began = performance.now();
  const received = listen(socket, request.timeoutMs ?? 3000, began);
  try {
    await once(socket, 'connect');
  } catch {
    return received;
  }
  if (!request.silent) socket.write(requestText(request, pathname + search));
  return received;
}

function requestText(
  { method = 'GET', body = '', headers = {}, withhold }: RawRequest,
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

function listen(socket: Socket, timeoutMs: number, began: number): Promise<RawResponse> {
  return new Promise((resolve) => {
    let [text, chunks, firstByteMs] = ['', 0, undefined as number | undefined];
    const finish = (end: RawResponse['end']): void => {
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
    const timer = setTimeout(() => finish('open'), timeoutMs);
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
