import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { oneLine } from '../text/one-line.js';
import { LoginError } from './login-error.js';

export interface CallbackOptions {
  readonly port: number;
  /** What X has to give back, so that nobody else can slip us a code. */
  readonly state: string;
  readonly signal: AbortSignal;
  readonly onListening: (redirectUri: string) => void;
  readonly onStranger: () => void;
}

export interface Callback {
  readonly code: string;
  readonly redirectUri: string;
  /** Answers the browser, which waits for the token exchange, and ends the server. */
  readonly finish: (page: Page) => void;
}

export interface Page {
  readonly status: number;
  readonly text: string;
}

const PATH = '/callback';

/** Waits on loopback for the browser that X sends back to us. It stays unanswered until `finish`. */
export function authorizationCode(options: CallbackOptions): Promise<Callback> {
  const { port, state, signal, onListening, onStranger } = options;
  return new Promise((resolve, reject) => {
    let redirectUri = '';
    const browsers: ServerResponse[] = [];
    const server = createServer((request, response) => {
      const url = urlOf(request);
      if (request.method !== 'GET' || url?.pathname !== PATH)
        return answer(response, { status: 404, text: 'Not here.' });
      if (!isEqual(url.searchParams.get('state') ?? '', state)) {
        // Not ours: the right one may still come.
        onStranger();
        const text = 'This is not the login that was begun here.';
        return answer(response, { status: 400, text });
      }
      const code = url.searchParams.get('code');
      if (code === null || code === '') {
        const why = oneLine(url.searchParams.get('error') ?? 'no code came back', 100);
        browsers.push(response);
        finish({ status: 400, text: 'The login was not allowed. You can close this page.' });
        return reject(new LoginError(`X did not allow the login: ${why}`));
      }
      // A browser that reloads the page waits for the same exchange: a code can be used once.
      browsers.push(response);
      signal.removeEventListener('abort', onAbort);
      resolve({ code, redirectUri, finish });
    });
    const finish = (page?: Page): void => {
      signal.removeEventListener('abort', onAbort);
      server.close();
      const waiting = browsers.filter(({ closed }) => !closed);
      // Browsers keep connections, and open some that they never use: those would hold up our end.
      let open = waiting.length;
      const hangUp = (): void => void (--open <= 0 && server.closeAllConnections());
      if (open === 0) hangUp();
      for (const response of waiting) {
        response.once('close', hangUp);
        if (page) answer(response, page);
      }
    };
    const onAbort = (): void => {
      finish();
      reject(new LoginError('nobody has allowed the login in time'));
    };
    server.on('error', (cause) => {
      finish();
      reject(unusable(port, cause));
    });
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    server.listen(port, '127.0.0.1', () => {
      redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
      onListening(redirectUri);
    });
  });
}

/** Undefined for what is no address: anybody on this machine can send it. */
function urlOf({ url = '' }: IncomingMessage): URL | undefined {
  const base = 'http://localhost';
  return URL.canParse(url, base) ? new URL(url, base) : undefined;
}

function unusable(port: number, cause: Error): LoginError {
  const isTaken = 'code' in cause && cause.code === 'EADDRINUSE';
  const why = isTaken ? ': something else listens there' : '';
  return new LoginError(
    `the port ${port} on 127.0.0.1 cannot be used${why}. Choose another that the app at X knows as its callback.`,
  );
}

function answer(response: ServerResponse, { status, text }: Page): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  response.end(`${text}\n`);
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
