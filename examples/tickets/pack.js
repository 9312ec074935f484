import * as z from 'zod';
import { ticketTools } from './tickets.js';

/**
 * The same tools for `toolkeel serve --pack ./pack.js`, with an address in the configuration.
 *
 * @type {import('@toolkeel/contract').Pack}
 */
export default {
  name: 'tickets',
  configSchema: z.strictObject({ url: z.url().default('http://127.0.0.1:7500') }),
  describe: () => ticketTools(''),
  create: async (config) => {
    const { url } = /** @type {{ url: string }} */ (config);
    const health = async () => {
      const { ok } = await fetch(`${url}/tickets`);
      return { ok, detail: url };
    };
    return { tools: ticketTools(url), health, close: async () => {} };
  },
};
