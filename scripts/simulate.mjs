import './lib/require-node.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { ready } from './lib/build.mjs';
import { node, show } from './lib/run.mjs';

await main(async () => {
  await ready();
  const script = inRoot('packages', 'drill', 'dist', 'simulate.js');
  return show(node([script, ...process.argv.slice(2)]));
});
