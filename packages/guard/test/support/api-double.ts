import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Directs the requests of a server to a double: the origin of the API is fixed in many servers. */
export const preload = new URL('redirect-fetch.mjs', import.meta.url).href;

type Members = Readonly<Record<string, unknown>>;

interface ApiRequest {
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Members;
}

export interface ApiReply {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** By method, host and path: `GET api.example.com/items/:id`. `*` is the rest of the path. */
export type ApiRoutes = Readonly<Record<string, (request: ApiRequest) => ApiReply>>;

/** A small imitation of a web API on loopback. */
export interface ApiDouble {
  readonly url: string;
  /** The environment that `preload` needs. */
  readonly env: NodeJS.ProcessEnv;
  /** All requests: `GET api.example.com/items/1`. */
  readonly requests: string[];
  /** Answers requests so, without performing them, until it is called without a reply. */
  readonly refuse: (reply?: ApiReply) => void;
  /** Performs the next request of a route, but kills the server that waits for the answer. */
  readonly killAfter: (route: string) => void;
  readonly close: () => Promise<void>;
}

/** `host` is for servers that have a setting for the address of the API. */
export async function startApi(routes: ApiRoutes, host = ''): Promise<ApiDouble> {
  const requests: string[] = [];
  let refusal: ApiReply | undefined;
  let deadly: string | undefined;
  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = message;
    const { pathname, searchParams: query } = new URL(url, 'http://localhost');
    const given = `${method} ${String(headers['x-test-host'] ?? host)}${pathname}`;
    requests.push(given);
    const text = Buffer.concat((await message.toArray()) as Buffer[]).toString();
    const body = text === '' ? {} : (JSON.parse(text) as Members);
    const answer = ({ status = 200, json, text: plain, headers: own }: ApiReply): void => {
      const type = json === undefined ? 'text/html' : 'application/json';
      response.writeHead(status, { 'content-type': type, ...own });
      response.end(json === undefined ? plain : JSON.stringify(json));
    };
    if (refusal) return answer(refusal);
    for (const [route, perform] of Object.entries(routes)) {
      const path = match(route, given);
      if (!path) continue;
      const reply = perform({ path, query, body });
      if (deadly !== route) return answer(reply);
      deadly = undefined;
      process.kill(Number(headers['x-test-pid']), 'SIGKILL');
      return;
    }
    answer({ status: 501, text: `no route for ${given}` });
  };
  const server = createServer((message, response) => {
    handle(message, response).catch((cause: unknown) => {
      response.writeHead(500).end(String(cause));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    env: { TEST_API: url },
    requests,
    refuse: (reply) => {
      refusal = reply;
    },
    killAfter: (route) => {
      deadly = route;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function match(route: string, given: string): Record<string, string> | undefined {
  const [parts, values] = [route.split('/'), given.split('/')];
  const path: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const value = values[index];
    if (value === undefined) return undefined;
    if (part === '*') return { ...path, rest: values.slice(index).join('/') };
    if (part.startsWith(':')) path[part.slice(1)] = decodeURIComponent(value);
    else if (part !== value) return undefined;
  }
  return parts.length === values.length ? path : undefined;
}
