// The server of examples/tickets in FastMCP, as its README writes servers.
import { FastMCP, UserError } from 'fastmcp';
import * as z from 'zod';

const url = process.env.TICKETS_URL ?? 'http://127.0.0.1:7500';
const send = async (path, method = 'GET', body) => {
  const content = body && { body: JSON.stringify(body) };
  const response = await fetch(url + path, { method, ...content });
  if (response.ok) return response.text();
  throw new UserError(`The ticket system responded with ${response.status}.`);
};

const server = new FastMCP({ name: 'tickets', version: '1.0.0' });
server.addTool({
  name: 'list_tickets',
  description: 'List tickets, the oldest first.',
  annotations: { readOnlyHint: true },
  parameters: z.object({ status: z.enum(['open', 'closed']).optional() }),
  execute: async ({ status = '' }) => send(`/tickets?status=${status}`),
});
server.addTool({
  name: 'create_ticket',
  description: 'Create a ticket.',
  parameters: z.object({ title: z.string().min(1) }),
  execute: async ({ title }) => send('/tickets', 'POST', { title }),
});
server.addTool({
  name: 'close_ticket',
  description: 'Close a ticket.',
  annotations: { idempotentHint: true },
  parameters: z.object({ id: z.string() }),
  execute: async ({ id }) => send(`/tickets/${encodeURIComponent(id)}/close`, 'POST'),
});
await server.start({ transportType: 'stdio' });
