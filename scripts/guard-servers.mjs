import './lib/require-node.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { hintsDetails, hintsTable } from './lib/hints.mjs';
import { main } from './lib/main.mjs';
import { inRoot } from './lib/paths.mjs';
import { say } from './lib/progress.mjs';

// `npm run guard:servers [-- --write]` prints the table of known servers, or writes it into the documentation.
// `npm run guard:servers -- --record NAME PACKAGE VERSION -- COMMAND ARGS…` adds a server.
await main(async () => {
  const [option, name, from, version, dashes, ...command] = process.argv.slice(2);
  if (option === '--record') {
    if (!name || !from || !version || dashes !== '--' || command.length === 0) {
      say('Use: npm run guard:servers -- --record NAME PACKAGE VERSION -- COMMAND ARGS…');
      return 2;
    }
    const { recordServer } = await import('./lib/record-server.mjs');
    for (const file of await recordServer({ name, from, version, command })) say(file);
    return 0;
  }
  if (!process.argv.includes('--write')) {
    say(`${hintsTable()}\n`);
    return 0;
  }
  const page = inRoot('docs', 'guard-servers.md');
  const text = readFileSync(page, 'utf8')
    .replace(/(?<=<!-- table -->\n)[^]*?(?=<!-- end -->)/, () => `\n${hintsTable()}\n\n`)
    .replace(
      /(?<=<!-- details -->\n)[^]*(?=<!-- end of details -->)/,
      () => `\n${hintsDetails()}\n\n`,
    );
  writeFileSync(page, text);
  return 0;
});
