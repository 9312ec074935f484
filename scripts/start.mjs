import './lib/require-node.mjs';
import { main } from './lib/main.mjs';
import { ready } from './lib/ready.mjs';
import { simulate } from './lib/simulator.mjs';

// Until there is a server to start, the quickest look at what the kernel does is the simulator's table.
await main(async () => {
  await ready();
  return simulate(['--quick', ...process.argv.slice(2)]);
});
