import './lib/require-node.mjs';
import { existsSync } from 'node:fs';
import { ensureInstalled } from './lib/install.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { ready } from './lib/ready.mjs';
import { node, show } from './lib/run.mjs';

// bench/ is no workspace: the rivals that it measures must not be installed for everybody else.
await main(async () => {
  if (!existsSync(inRoot('bench', 'run.mjs')))
    throw new Error('There is no bench/ in this version yet.');
  await ready();
  await ensureInstalled(inRoot('bench'));
  return show(node([inRoot('bench', 'run.mjs'), ...process.argv.slice(2)]));
});
