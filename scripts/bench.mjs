import './lib/require-node.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { ready } from './lib/build.mjs';
import { node, show } from './lib/run.mjs';

// bench/ is not a workspace, so that the compared libraries are installed only for a benchmark.
await main(async () => {
  const args = process.argv.slice(2);
  if (!args.some((arg) => arg === '--help' || arg === '-h')) {
    await ready();
    await ensureInstalled(inRoot('bench'));
  }
  return show(node([inRoot('bench', 'run.mjs'), ...args]));
});
