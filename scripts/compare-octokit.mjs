import './lib/require-node.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { ready } from './lib/build.mjs';
import { node, show } from './lib/run.mjs';

// Octokit is installed only for the comparison, like the libraries of the benchmark.
await main(async () => {
  const args = process.argv.slice(2);
  if (!args.some((arg) => arg === '--help' || arg === '-h')) {
    await ready();
    await ensureInstalled(inRoot('bench'));
  }
  return show(node([inRoot('bench', 'octokit.mjs'), ...args]));
});
