import './lib/require-node.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { say } from './lib/progress.mjs';
import { ready } from './lib/build.mjs';
import { node, show } from './lib/run.mjs';

// Starts a real server with sandbox upstreams. Its tools may act: nothing there is real.
await main(async () => {
  await ready();
  const pretty = process.stderr.isTTY ? ['--pretty'] : [];
  const args = ['up', '--sandbox', '--profile', 'api', ...pretty, ...process.argv.slice(2)];
  // Only below npm: a script that a shell started in the background outlives that shell.
  const endsWithParent = process.env['npm_lifecycle_event'] !== undefined;
  const server = node([inRoot('packages', 'cli', 'dist', 'bin.js'), ...args]);
  const code = await show(server, { endsWithParent });
  if (code !== 0) say('Pass flags after two dashes: npm start -- --port 0');
  return code;
});
