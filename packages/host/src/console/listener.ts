import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Access } from '../http/access.js';
import type { Console } from './console.js';

/** Serves the console on Node's own objects, for a server that is not made of routes. */
export function consoleListener(console: Console, access: Access): RequestListener {
  const serve = getRequestListener(
    async (request) =>
      (await console.fetch(request, access)) ??
      Response.json({ error: 'Not found.' }, { status: 404 }),
    { overrideGlobalObjects: false },
  );
  return (incoming, outgoing) => void serve(incoming, outgoing);
}
