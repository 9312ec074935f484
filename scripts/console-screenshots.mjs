import './lib/require-node.mjs';
import { main } from './lib/main.mjs';
import { ready } from './lib/build.mjs';
import { ensureChromium } from './lib/chromium.mjs';
import { show, tool } from './lib/run.mjs';

// `npm run console:screenshots` writes a picture of every page of the console to docs/images/console.
await main(async () => {
  await ready();
  await ensureChromium();
  return show(tool('vitest', ['run', '--mode', 'screenshots']));
});
