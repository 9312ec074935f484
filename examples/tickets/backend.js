// A ticket system in a process of its own: `node backend.js [milliseconds until it responds]`.
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const { PORT = '7500' } = process.env;
const [delay = '0'] = process.argv.slice(2);
/** It creates no ticket for a request that has waited for this long. */
const ACTS_WITHIN_MS = 1000;
/** @type {{ id: string, title: string, status: string, reference: string }[]} */
const tickets = [];

/** @type {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => Promise<void>} */
const handle = async (request, response) => {
  const arrived = performance.now();
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  /** @param {unknown} body */
  const respond = (body, status = 200) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.method === 'GET' && pathname === '/tickets') {
    const [status, reference] = [searchParams.get('status'), searchParams.get('reference')];
    return respond(
      tickets.filter(
        (ticket) =>
          (!status || ticket.status === status) && (!reference || ticket.reference === reference),
      ),
    );
  }
  if (request.method === 'POST' && pathname === '/tickets') {
    const { title, reference = '' } = JSON.parse(body);
    await pause(Math.min(50, Number(delay)) * Math.random());
    if (performance.now() - arrived > ACTS_WITHIN_MS) return respond({ error: 'too late' }, 503);
    const ticket = { id: `T${tickets.length + 1}`, title, status: 'open', reference };
    tickets.push(ticket);
    console.log(`created ${ticket.id} ${title}`);
    await pause(Number(delay) * (0.5 + Math.random() / 2));
    return respond(ticket, 201);
  }
  const [, id] = /^\/tickets\/(\w+)\/close$/.exec(pathname) ?? [];
  const ticket = tickets.find((candidate) => candidate.id === id);
  if (request.method !== 'POST' || !ticket) return respond({ error: 'not found' }, 404);
  ticket.status = 'closed';
  respond(ticket);
};

const server = createServer((request, response) => void handle(request, response));

server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : PORT;
  console.log(`ticket system at http://127.0.0.1:${port}`);
});
