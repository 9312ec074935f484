import './lib/require-node.mjs';
import { main } from './lib/main.mjs';
import { say } from './lib/progress.mjs';
import { ready } from './lib/build.mjs';
import { show, tool } from './lib/run.mjs';

// `npm run console:incident` starts servers with sandbox upstreams during an incident, and prints a link to the console.
await main(async () => {
  if (process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')) {
    say(
      'Start an incident with sandbox upstreams (an outage, two unknown posts, three approvals, one expired), and print a link to the console. Ctrl-C ends it.\n\nExample: npm run console:incident',
    );
    return 0;
  }
  await ready();
  const run = tool('vitest', ['run', '--mode', 'incident', '--reporter', 'dot']);
  // Only below npm: a script that a shell started in the background outlives that shell.
  return show(run, { endsWithParent: process.env['npm_lifecycle_event'] !== undefined });
});
