import './lib/require-node.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { main } from './lib/main.mjs';
import { show, tool } from './lib/run.mjs';

await main(async () => {
  await ensureInstalled();
  return show(tool('oxfmt', process.argv.slice(2)));
});
