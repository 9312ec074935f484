import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { simulate } from './simulator/command.js';

const page = fileURLToPath(new URL('../../../docs/simulation.md', import.meta.url));

process.exitCode = await simulate(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  colours: process.stdout.isTTY && !process.env['NO_COLOR'],
  progress: process.stderr.isTTY,
  writePage: (text) => writeFileSync(page, text),
});
