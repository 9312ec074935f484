import { specifyTool, type Pack } from '@toolkeel/contract';
import { presets } from '@toolkeel/kernel';
import * as kit from '@toolkeel/pack-kit';
import * as z from 'zod';

const configSchema = z.strictObject({
  baseUrl: kit.httpUrl,
  token: kit.secretSource, // { "env": "TICKETS_TOKEN" } or { "file": "token" }
  ...kit.commonSettings({ toolTimeoutSecs: 15, attemptTimeoutSecs: 5, maxRetries: 2 }),
});

const ticket = z.object({ id: z.string(), title: z.string() });

const listTickets = specifyTool({
  name: 'list_tickets',
  description: 'Lists the open tickets.',
  effect: 'read',
  input: z.object({}),
  output: z.object({ tickets: z.array(ticket) }),
});

const createTicket = specifyTool({
  name: 'create_ticket',
  description: 'Creates a ticket.',
  effect: 'once', // never sent twice
  send: 'explicit', // the client records the send directly before the first byte
  input: z.object({ title: z.string().min(1) }),
  output: ticket,
});

const tool = kit.createToolFactory();

export const pack: Pack<typeof configSchema> = {
  name: 'tickets',
  configSchema,
  describe: () => [listTickets, createTicket],
  create: async (config, deps) => {
    const secrets = kit.createRedactor();
    const token = kit.readSecret(config.token, 'packs.tickets.token', process.env);
    secrets.add(token); // redacted from every response
    const http = kit.createHttpClient({
      name: 'tickets',
      policy: kit.policyOf(presets.social, config),
      deps,
      trusted: [config.baseUrl], // all other origins must be public
      secrets,
      maxBytes: config.maxResponseBytes,
    });
    const url = kit.urlUnder(config.baseUrl, 'tickets');
    const headers = { authorization: `Bearer ${token}` };
    const list = async (call: kit.RequestContext) =>
      kit.parseResponse(await http.read({ method: 'GET', url, headers }, call), z.array(ticket));
    return {
      tools: [
        tool(listTickets, http, async (_args, call) => ({ tickets: await list(call) })),
        tool(createTicket, http, async ({ title }, call) => {
          const body = JSON.stringify({ title });
          const response = await http.once({ method: 'POST', url, headers, body }, call);
          return kit.parseResponse(response, ticket);
        }),
      ],
      health: kit.createHealthCheck(deps.now, async (call) => {
        await list(call);
        return { ok: true, detail: 'answers' };
      }),
      upstreams: http.upstreams,
      close: http.close,
    };
  },
};
