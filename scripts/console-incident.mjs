import './lib/require-node.mjs';
import { main } from './lib/main.mjs';
import { ready } from './lib/build.mjs';
import { show, tool } from './lib/run.mjs';

// `npm run console:incident` starts servers with sandbox upstreams during an incident, and prints a link to the console.
await main(async () => {
  await ready();
  return show(tool('vitest', ['run', '--mode', 'incident', '--reporter', 'dot']));
});
