import { defineTool } from '@toolkeel/contract';
import { presets, upstream, withResilience } from '@toolkeel/kernel';
import * as z from 'zod';

/** @param {string} url of the ticket system */
export const ticketTools = (url) => {
  /** @type {(request: { path: string, method?: string, body?: object }, call: any) => Promise<any>} */
  const send = async ({ path, method = 'GET', body }, { signal }) => {
    const content = body && { body: JSON.stringify(body) };
    const response = await fetch(url + path, { method, signal, redirect: 'manual', ...content });
    const { ok, status, headers } = response;
    if (ok) return response.json();
    throw Object.assign(new Error('refused'), { status, headers });
  };
  const options = { upstream: upstream('tickets', presets.social) };
  const read = withResilience(send, presets.social, { effect: 'read', ...options });
  const write = withResilience(send, presets.social, { effect: 'once', ...options });
  const set = withResilience(send, presets.social, { effect: 'idempotent', ...options });

  return [
    defineTool({
      name: 'list_tickets',
      description: 'List tickets, the oldest first.',
      effect: 'read',
      input: z.object({ status: z.enum(['open', 'closed']).optional() }),
      handler: async ({ status = '' }) => ({
        tickets: await read({ path: `/tickets?status=${status}` }),
      }),
    }),
    defineTool({
      name: 'create_ticket',
      description: 'Create a ticket.',
      effect: 'once', // repeating it would create another ticket
      input: z.object({ title: z.string().min(1) }),
      handler: ({ title }, { operation }) =>
        write({ path: '/tickets', method: 'POST', body: { title, reference: operation?.id } }),
      // What became of a request whose response was lost: the ticket has its operation as reference.
      reconcile: {
        authoritative: true,
        actsWithinMs: 1000, // later the ticket system drops a request
        readBack: async ({ id }) => {
          const [ticket] = await read({ path: `/tickets?reference=${id}` });
          return ticket ? { found: 'executed', data: ticket } : { found: 'absent' };
        },
      },
    }),
    defineTool({
      name: 'close_ticket',
      description: 'Close a ticket.',
      effect: 'idempotent', // a closed ticket stays closed
      input: z.object({ id: z.string() }),
      handler: ({ id }) =>
        set({ path: `/tickets/${encodeURIComponent(id)}/close`, method: 'POST' }),
    }),
  ];
};
