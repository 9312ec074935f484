import { runTool } from '@toolkeel/contract';
import { configSchema } from '../config.js';
import { createXPack } from '../pack.js';

/** A process that makes three concurrent calls with a login and prints their results. */
const [baseUrl = '', tokenFile = ''] = process.argv.slice(2);
const pack = await createXPack({ env: {} }).create(configSchema.parse({ baseUrl, tokenFile }), {
  now: () => performance.now(),
  random: Math.random,
  log: () => undefined,
  observe: () => undefined,
});
const me = pack.tools.find(({ name }) => name === 'x_get_me');
if (!me) throw new Error('there is no such tool');
const runs = await Promise.all([1, 2, 3].map(() => runTool(me, {})));
console.log(runs.map(({ envelope }) => (envelope.success ? 'ok' : envelope.error.code)).join(' '));
await pack.close();
