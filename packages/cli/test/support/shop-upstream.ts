import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the shop does with its next request: nothing until it is told, or it breaks the connection. */
type Plan = 'answer' | 'hang' | 'commit and break' | 'break';

export interface ShopUpstream {
  readonly url: string;
  /** What was really done, in order. */
  readonly effects: readonly string[];
  readonly next: (...plans: readonly Plan[]) => void;
  /** Answers those that it let hang. */
  readonly release: () => void;
  readonly hanging: () => number;
  readonly close: () => Promise<void>;
}

/** The other side of the shop: its own log is the witness. */
export async function startShop(): Promise<ShopUpstream> {
  const effects: string[] = [];
  const plans: Plan[] = [];
  const waiting: (() => void)[] = [];
  const commit = (subject: string) => ({ id: `e${effects.push(subject)}` });
  const json = (response: ServerResponse, body: unknown) => response.end(JSON.stringify(body));

  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      const wanted = new URL(request.url ?? '', 'http://x').searchParams.get('subject');
      const found = effects.flatMap((one, at) => (one === wanted ? [{ id: `e${at + 1}` }] : []));
      json(response, found);
      return;
    }
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { subject } = JSON.parse(body) as { subject: string };
      const plan = plans.shift();
      if (plan === 'hang') waiting.push(() => json(response, commit(subject)));
      else if (plan === 'break') request.socket.destroy();
      else if (plan === 'commit and break') {
        commit(subject);
        request.socket.destroy();
      } else json(response, commit(subject));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    effects,
    next: (...more) => void plans.push(...more),
    release: () => waiting.splice(0).forEach((answer) => answer()),
    hanging: () => waiting.length,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
