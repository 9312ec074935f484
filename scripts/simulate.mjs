import './lib/require-node.mjs';
import { main } from './lib/main.mjs';
import { ready } from './lib/ready.mjs';
import { simulate } from './lib/simulator.mjs';

await main(async () => {
  await ready();
  return simulate(process.argv.slice(2));
});
