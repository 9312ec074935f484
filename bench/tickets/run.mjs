// Kills the server of examples/tickets and the same server in FastMCP at random moments, and counts the
// tickets that exist twice: `node bench/tickets/run.mjs [kills]`, after `npm run build`.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FASTMCP = 'fastmcp@4.20.16';
const ZOD = 'zod@4.6.7';
const [kills = '20'] = process.argv.slice(2);
const run = promisify(execFile);
const example = join(import.meta.dirname, '..', '..', 'examples', 'tickets');
const theirs = join(import.meta.dirname, 'fastmcp-server.mjs');

const linesOf = (...files) =>
  files
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line.trim() !== '' && !/^\s*(\/\/|\/?\*)/.test(line)).length;

const killsOf = async (...command) => {
  const { stdout } = await run('node', ['kill.js', kills, ...command], { cwd: example });
  return JSON.parse(stdout);
};

const dir = mkdtempSync(join(tmpdir(), 'fastmcp-'));
try {
  writeFileSync(join(dir, 'package.json'), '{ "private": true, "type": "module" }');
  await run('npm', ['install', FASTMCP, ZOD, '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: dir,
  });
  const server = join(dir, 'server.mjs');
  copyFileSync(theirs, server);
  console.table({
    Toolkeel: {
      lines: linesOf(join(example, 'tickets.js'), join(example, 'server.js')),
      ...(await killsOf()),
    },
    [FASTMCP]: { lines: linesOf(theirs), ...(await killsOf('node', server)) },
  });
} finally {
  rmSync(dir, { recursive: true, force: true });
}
