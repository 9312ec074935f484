import './lib/require-node.mjs';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { main } from './lib/main.mjs';
import { say, withProgress } from './lib/progress.mjs';
import { ready } from './lib/build.mjs';
import { capture, npm } from './lib/run.mjs';
import { stagePublished } from './lib/stage.mjs';

// `npm run pack [folder]` writes the published tarballs to a folder.
await main(async () => {
  await ready();
  const into = resolve(process.argv[2] ?? 'tarballs');
  mkdirSync(into, { recursive: true });
  const { code, output } = await withProgress(
    () => 'packing',
    async () => {
      const dirs = await stagePublished();
      return capture(npm(['pack', ...dirs, '--ignore-scripts', '--pack-destination', into]));
    },
  );
  say(output);
  return code;
});
