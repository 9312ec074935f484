import { mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as contract from '@toolkeel/contract';
import { createJournal, ephemeralEncryption, memoryStore, type Journal } from '@toolkeel/journal';
import { classifyError, FaultError } from '@toolkeel/kernel';
import { build } from 'vite';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { root, sourceAliases } from './support/workspace.js';

const { acceptControls, registerCodes, runTool, toolFailure } = contract;

/** A pack with its own copies of contract, kernel and zod, as a command loads it from a user's folder. */
const source = `
import * as z from 'zod';
import { answer, assertSendToken, defineTool, faulted, raise, registerCodes, toolError } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';

export { defineTool, FaultError };
export const writes = [];
const codes = registerCodes('tickets', {
  copied_locked: { retryable: false, description: 'Another agent holds the ticket', outcome: 'not_executed' },
  copied_queue_full: { retryable: true, description: 'The queue of tickets is full' },
});
const fault = { kind: 'server', sent: 'answered', status: 503 };
const ways = {
  data: () => ({ id: 7 }),
  answer: () => answer({ id: 7 }, { rateLimit: { limit: 9, remaining: 1, reset: '2026-01-01T00:00:00.000Z' } }),
  error: () => toolError(codes.copied_locked, 'Ticket 7 is locked.', { details: { holder: 'agent-2' } }),
  retryable: () => toolError(codes.copied_queue_full, 'Try again later.'),
  raised: () => raise(toolError('not_found', 'There is no ticket 7.')),
  fault: () => faulted(fault),
  thrown: () => { throw new FaultError(fault); },
};
export const look = defineTool({
  name: 'look_at_ticket', description: 'Looks at a ticket.', effect: 'read',
  input: z.object({ way: z.enum(Object.keys(ways)).describe('How it ends.') }),
  handler: ({ way }) => ways[way](),
});
export const close = defineTool({
  name: 'close_ticket', description: 'Closes a ticket.', effect: 'once', send: 'explicit',
  input: z.object({ id: z.int().describe('The ticket.'), way: z.enum(Object.keys(ways)).default('data') }),
  handler: ({ way }, { operation }) => operation.send(async (token) => {
    assertSendToken(token);
    writes.push(way);
    return ways[way]();
  }),
});
export const write = (token) => assertSendToken(token);
`;

interface ForeignPack {
  readonly look: contract.Tool;
  readonly close: contract.Tool;
  readonly write: (token: unknown) => void;
  readonly writes: string[];
  readonly FaultError: typeof FaultError;
  readonly defineTool: typeof contract.defineTool;
}

const temp = realpathSync(mkdtempSync(join(tmpdir(), 'toolkeel-copies-')));
let pack: ForeignPack;

beforeAll(async () => {
  const entry = join(temp, 'tickets.mjs');
  writeFileSync(entry, source);
  symlinkSync(join(root, 'node_modules'), join(temp, 'node_modules'));
  await build({
    configFile: false,
    root: temp,
    logLevel: 'silent',
    resolve: { alias: sourceAliases() },
    ssr: { noExternal: true },
    build: { ssr: entry, outDir: join(temp, 'dist'), minify: false },
  });
  pack = (await import(pathToFileURL(join(temp, 'dist', 'tickets.mjs')).href)) as ForeignPack;
}, 60_000);

afterAll(() => rm(temp, { recursive: true, force: true }));

test('the pack has its own copies', () => {
  expect(pack.defineTool).not.toBe(contract.defineTool);
  expect(pack.FaultError).not.toBe(FaultError);
});

describe('a tool of one copy in the runner of another', () => {
  const run = async (way: string) => (await runTool(pack.look, { way })).envelope;

  test('succeeds', async () => {
    expect(await run('data')).toMatchObject({ success: true, data: { id: 7 } });
    expect(await run('answer')).toMatchObject({
      data: { id: 7 },
      meta: { rate_limit: { limit: 9 } },
    });
  });

  test('fails with the codes of its pack and of the contract', async () => {
    const locked = await run('error');
    expect(locked).toMatchObject({
      error: { code: 'copied_locked', retryable: false, details: { holder: 'agent-2' } },
    });
    expect(locked.success || toolFailure(locked, 0)).toMatchObject({ class: 'capability' });
    expect(await run('retryable')).toMatchObject({
      error: { code: 'copied_queue_full', retryable: true },
    });
    expect(await run('raised')).toMatchObject({ error: { code: 'not_found' } });
    expect(contract.envelopeSchema.safeParse(locked).success).toBe(true);
  });

  test('has its faults mapped', async () => {
    const unavailable = { error: { code: 'upstream_unavailable', retryable: true } };
    expect(await run('fault')).toMatchObject(unavailable);
    expect(await run('thrown')).toMatchObject(unavailable);
    const foreign = new pack.FaultError({ kind: 'connect', sent: 'no' });
    expect(foreign).toBeInstanceOf(FaultError);
    expect(classifyError(foreign)).toEqual({ kind: 'connect', sent: 'no' });
  });

  test('has its arguments validated and described, also with those of the journal', async () => {
    expect((await runTool(pack.look, { way: 'x', more: 1 })).envelope).toMatchObject({
      error: { code: 'validation_error' },
    });
    const { inputSchema } = acceptControls(pack.close);
    expect(inputSchema['properties']).toMatchObject({
      id: { type: 'integer', description: 'The ticket.' },
      idempotency_key: { type: 'string', description: expect.any(String) as unknown },
    });
  });

  test('cannot give a code of its pack another meaning', () => {
    const other = { copied_locked: { retryable: true, description: 'The ticket has a lock' } };
    expect(() => registerCodes('helpdesk', other)).toThrow(/copied_locked.*helpdesk.*tickets/);
  });
});

describe('a mutation of one copy in the journal of another', () => {
  let journal: Journal;
  beforeEach(() => {
    pack.writes.length = 0;
    journal = createJournal({ store: memoryStore(), encryption: ephemeralEncryption() });
    return () => journal.close();
  });
  const call = async (args: object) => {
    const { middleware } = journal;
    const { envelope } = await runTool(acceptControls(pack.close), args, { middleware });
    return envelope;
  };

  test('sends once and replays', async () => {
    expect(await call({ id: 7 })).toMatchObject({ success: true, data: { id: 7 } });
    expect(await call({ id: 7 })).toMatchObject({ meta: { idempotency: { replayed: true } } });
    expect(pack.writes).toEqual(['data']);
  });

  test('is not executed if its code proves it, and unknown after a fault', async () => {
    expect(await call({ id: 1, way: 'error' })).toMatchObject({
      error: { code: 'copied_locked', outcome: 'not_executed' },
    });
    expect(await call({ id: 2, way: 'thrown' })).toMatchObject({
      error: { code: 'outcome_unknown', outcome: 'unknown' },
    });
    expect(await call({ id: 2, way: 'thrown' })).toMatchObject({ error: { outcome: 'unknown' } });
    expect(pack.writes).toEqual(['error', 'thrown']);
  });

  test('writes with a live token only', async () => {
    let ended: unknown;
    await contract.withSendToken(1, async (token) => {
      pack.write(token);
      expect(() => pack.write({ ...token })).toThrow('outside operation.send');
      ended = token;
    });
    expect(() => pack.write(ended)).toThrow('outside operation.send');
    expect(() => pack.write({ fence: 1 })).toThrow('outside operation.send');
    expect(() => pack.write(undefined)).toThrow('outside operation.send');
  });
});
