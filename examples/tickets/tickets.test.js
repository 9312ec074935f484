import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startBackend, startServer } from './client.js';

const dataDir = mkdtempSync(join(tmpdir(), 'tickets-test-'));
/** @type {Awaited<ReturnType<typeof startBackend>>} */
let backend;
/** @type {Awaited<ReturnType<typeof startServer>>} */
let server;

before(async () => {
  backend = await startBackend(300);
  server = await startServer(backend.url, dataDir);
});

after(async () => {
  await server.stop();
  backend.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** @param {string} name @param {object} args */
const call = async (name, args = {}) => (await server.call(name, args)).structuredContent;

test('the server lists, creates and closes tickets', async () => {
  const names = (await server.list()).tools.map(({ name }) => name);
  assert.deepEqual(names.slice(0, 3), ['list_tickets', 'create_ticket', 'close_ticket']);
  const { data: ticket } = await call('create_ticket', { title: 'The lift is stuck' });
  assert.equal(ticket.status, 'open');
  const open = await call('list_tickets', { status: 'open' });
  assert.deepEqual(open.data.tickets, [ticket]);
  const closed = await call('close_ticket', { id: ticket.id });
  assert.deepEqual(closed.data, { ...ticket, status: 'closed' });
  assert.equal((await call('close_ticket', { id: 'T99' })).error.code, 'not_found');
  assert.equal((await call('create_ticket', { name: 'x' })).error.code, 'validation_error');
});

test('a repeated call returns the first ticket', async () => {
  const first = await call('create_ticket', { title: 'No hot water' });
  const second = await call('create_ticket', { title: 'No hot water' });
  assert.equal(second.meta.idempotency.replayed, true);
  assert.deepEqual(second.data, first.data);
});

test('a server that is killed before it answers does not create a second ticket', async () => {
  const title = 'The door is open';
  void server.call('create_ticket', { title });
  while (!backend.created.includes(title)) await pause(5);
  await server.kill();
  server = await startServer(backend.url, dataDir);
  const { data } = await call('create_ticket', { title });
  assert.equal(data.title, title);
  assert.deepEqual(
    backend.created.filter((created) => created === title),
    [title],
  );
});
