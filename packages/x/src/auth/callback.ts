import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { oneLine } from '../text/strings.js';
import { LoginError } from './login-x.js';

export interface CallbackOptions {
  readonly port: number;
  /** The expected `state` parameter, against forged callbacks. */
  readonly state: string;
  readonly signal: AbortSignal;
  readonly onListening: (redirectUri: string) => void;
  readonly onStateMismatch: () => void;
}

export interface Callback {
  readonly code: string;
  readonly redirectUri: string;
  /** Answers the browser after the token exchange, and closes the server. */
  readonly finish: (page: BrowserPage) => void;
}

export interface BrowserPage {
  readonly status: number;
  readonly text: string;
}

const PATH = '/callback';

/** Waits on loopback for the redirect from X. The browser gets its response from `finish`. */
export function authorizationCode(options: CallbackOptions): Promise<Callback> {
  const { port, state, signal, onListening, onStateMismatch } = options;
  return new Promise((resolve, reject) => {
    let redirectUri = '';
    const browsers: ServerResponse[] = [];
    const server = createServer((request, response) => {
      const url = urlOf(request);
      if (request.method !== 'GET' || url?.pathname !== PATH)
        return answer(response, { status: 404, text: 'Not found.' });
      if (!isEqual(url.searchParams.get('state') ?? '', state)) {
        // Another login; the expected callback may still arrive.
        onStateMismatch();
        const text = 'This callback belongs to another login.';
        return answer(response, { status: 400, text });
      }
      const code = url.searchParams.get('code');
      if (code === null || code === '') {
        const why = oneLine(url.searchParams.get('error') ?? 'the callback has no code', 100);
        browsers.push(response);
        finish({ status: 400, text: 'The login was denied. You can close this page.' });
        return reject(new LoginError(`X denied the login: ${why}`));
      }
      // A reloaded page waits for the same exchange, because the code is valid once.
      browsers.push(response);
      signal.removeEventListener('abort', onAbort);
      resolve({ code, redirectUri, finish });
    });
    const finish = (page?: BrowserPage): void => {
      signal.removeEventListener('abort', onAbort);
      server.close();
      const waiting = browsers.filter(({ closed }) => !closed);
      // Browsers keep idle connections open, which would keep the process alive.
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
      reject(new LoginError('the login was not authorized in time'));
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

/** Undefined for a malformed URL, which any local process can send. */
function urlOf({ url = '' }: IncomingMessage): URL | undefined {
  const base = 'http://localhost';
  return URL.canParse(url, base) ? new URL(url, base) : undefined;
}

function unusable(port: number, cause: Error): LoginError {
  const isTaken = 'code' in cause && cause.code === 'EADDRINUSE';
  const why = isTaken ? ': it is in use' : '';
  return new LoginError(
    `the port ${port} on 127.0.0.1 cannot be used${why}. Choose another port that is registered as a callback of the X app.`,
  );
}

function answer(response: ServerResponse, { status, text }: BrowserPage): void {
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
