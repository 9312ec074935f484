import { drillJournal } from './journal/command/main.js';

const [what, ...args] = process.argv.slice(2);

if (what === 'journal') {
  process.exitCode = await drillJournal(args, {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    progress: process.stderr.isTTY,
  });
}
