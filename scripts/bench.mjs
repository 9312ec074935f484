import './lib/require-node.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { ready } from './lib/ready.mjs';
import { node, show } from './lib/run.mjs';

// bench/ is no workspace: the rivals that it measures must not be installed for everybody else.
await main(async () => {
  const args = process.argv.slice(2);
  if (!args.some((arg) => arg === '--help' || arg === '-h')) {
    await ready();
    await ensureInstalled(inRoot('bench'));
  }
  return show(node([inRoot('bench', 'run.mjs'), ...args]));
});
