import { appendFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drillStac } from './stac/command/main.js';

const cli = fileURLToPath(new URL('../../cli/dist/bin.js', import.meta.url));
const [what, ...args] = process.argv.slice(2);

if (what === 'stac') {
  process.exitCode = await drillStac(args, {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    colours: process.stdout.isTTY && !process.env['NO_COLOR'],
    progress: process.stderr.isTTY,
    write: (file, text) => writeFileSync(file, text),
    probe: (file) => appendFileSync(file, ''),
    server: [process.execPath, cli, 'serve', 'stac'],
  });
} else {
  process.stderr.write(`There is no drill of ${what ?? 'nothing'}: npm run drill:stac is one.\n`);
  process.exitCode = 2;
}
