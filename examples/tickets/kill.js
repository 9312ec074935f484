// Kills servers while they create tickets, repeats the calls, and counts tickets in the log of the ticket
// system: `node kill.js [kills] [command of the server]`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startBackend, startServer } from './client.js';

const [kills = '20', ...command] = process.argv.slice(2);
/** Servers at the same time. They share the journal. */
const SERVERS = 4;
/** A call takes about as long as the ticket system: up to 50 ms until it acts, then up to this long. */
const RESPONSE_MS = 80;
const KILL_WITHIN_MS = 130;

const dataDir = mkdtempSync(join(tmpdir(), 'tickets-'));
const backend = await startBackend(RESPONSE_MS);
const start = () =>
  startServer(backend.url, dataDir, command.length > 0 ? command : ['node', 'server.js']);
let [killed, failed] = [0, 0];

/** Repeats the call until it succeeds, as an agent does. @param {any} server @param {string} title */
const create = async (server, title) => {
  for (let attempt = 0; attempt < 50; attempt++) {
    const { isError } = await server.call('create_ticket', { title });
    if (!isError) return;
    await pause(100);
  }
  failed += 1;
};

/** @param {number} lane */
const work = async (lane) => {
  let server = await start();
  for (let round = 0; killed < Number(kills); round++) {
    killed += 1;
    await create(server, `ready ${lane}-${round}`);
    const title = `killed ${lane}-${round}`;
    let answered = false;
    void server.call('create_ticket', { title }).then(() => {
      answered = true;
    });
    await pause(Math.random() * KILL_WITHIN_MS);
    await server.kill();
    server = await start();
    if (!answered) await create(server, title);
  }
  await server.stop();
};

try {
  await Promise.all(Array.from({ length: SERVERS }, (_, lane) => work(lane)));
  const { created } = backend;
  const tickets = new Set(created).size;
  const result = { kills: killed, tickets, duplicates: created.length - tickets, failed };
  console.log(JSON.stringify(result));
} finally {
  backend.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
