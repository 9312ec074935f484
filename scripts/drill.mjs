import './lib/require-node.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { ready } from './lib/build.mjs';
import { node, show } from './lib/run.mjs';

await main(async () => {
  await ready();
  return show(node([inRoot('packages', 'drill', 'dist', 'drill.js'), ...process.argv.slice(2)]));
});
