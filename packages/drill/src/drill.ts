import { appendFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../cli/dist/bin.js', import.meta.url));
const [what, ...args] = process.argv.slice(2);

const io = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
  colours: process.stdout.isTTY && !process.env['NO_COLOR'],
  progress: process.stderr.isTTY,
};

if (what === 'stac') {
  const { drillStac } = await import('./stac/command.js');
  process.exitCode = await drillStac(args, {
    ...io,
    write: (file, text) => writeFileSync(file, text),
    probe: (file) => appendFileSync(file, ''),
    server: [process.execPath, cli, 'serve', 'stac'],
  });
} else if (what === 'journal') {
  const { drillJournal } = await import('./journal/command.js');
  process.exitCode = await drillJournal(args, io);
} else {
  io.err(`There is no drill of ${what ?? 'nothing'}: drill:stac and drill:journal are there.\n`);
  process.exitCode = 2;
}
