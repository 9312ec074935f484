import './lib/require-node.mjs';
import { ready } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { node, show } from './lib/run.mjs';

await main(async () => {
  await ready();
  await ensureInstalled(inRoot('bench'));
  return show(node([inRoot('bench', 'llm.mjs'), ...process.argv.slice(2)]));
});
