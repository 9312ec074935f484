// A server of revision 2026-07-28 only: it refuses sessions.
import { appendFileSync } from 'node:fs';
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const [log = ''] = process.argv.slice(2);
const text = (/** @type {string} */ value) => ({
  content: [{ type: /** @type {const} */ ('text'), text: value }],
});

const create = () => {
  const server = new McpServer({ name: 'modern', version: '1' }, { instructions: 'Be modern.' });
  const readOnly = {
    annotations: { readOnlyHint: true },
    inputSchema: z.object({ n: z.number() }),
  };
  server.registerTool('double', readOnly, ({ n }) => text(String(2 * n)));
  server.registerTool('add', { inputSchema: z.object({ n: z.number() }) }, ({ n }) => {
    appendFileSync(log, `${n}\n`);
    return text(`added ${n}`);
  });
  server.registerTool('ask', {}, () => inputRequired({ requestState: 'again' }));
  server.registerResource('note', 'note://1', {}, () => ({
    contents: [{ uri: 'note://1', text: 'a note' }],
  }));
  server.registerPrompt('greet', { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }],
  }));
  return server;
};

serveStdio(create, { legacy: 'reject' });
