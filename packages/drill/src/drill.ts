import { appendFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../cli/dist/bin.js', import.meta.url));
const [drill, ...args] = process.argv.slice(2);

const io = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
  colours: process.stdout.isTTY && !process.env['NO_COLOR'],
  progress: process.stderr.isTTY,
};

if (drill === 'stac') {
  const { drillStac } = await import('./stac/command.js');
  process.exitCode = await drillStac(args, {
    ...io,
    write: (file, text) => writeFileSync(file, text),
    probe: (file) => appendFileSync(file, ''),
    server: [process.execPath, cli, 'serve', 'stac'],
  });
} else if (drill === 'journal') {
  const { drillJournal } = await import('./journal/command.js');
  process.exitCode = await drillJournal(args, io);
} else if (drill === 'simulate') {
  const { simulate } = await import('./simulator/command.js');
  const page = fileURLToPath(new URL('../../../docs/simulation.md', import.meta.url));
  const writePage = (text: string): void => writeFileSync(page, text);
  process.exitCode = await simulate(args, { ...io, writePage });
} else {
  io.err(`Unknown drill ${drill ?? ''}: use "npm run drill:stac" or "npm run drill:journal".\n`);
  process.exitCode = 2;
}
