import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../src/run.js';
import { fakeRuntime, useTempDir } from '../src/runtime.fixture.js';
import { overHttp, overStdio } from './support/client.js';
import { endAll, finished, toolkeel } from './support/process.js';

const dir = useTempDir();
const root = fileURLToPath(new URL('../../..', import.meta.url));
const write = (path: string, content: string | object): void => {
  const file = join(dir(), path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
};
const configure = (tickets: object, more: object = {}): void =>
  write('toolkeel.config.json', { packs: { tickets }, dataDir: 'data', ...more });
const place = (env: Record<string, string> = {}) => ({ cwd: dir(), env });

/** Runs a command in this process. */
const command = async (args: readonly string[], env: Record<string, string> = {}) => {
  const runtime = fakeRuntime({ cwd: dir(), env });
  const code = await run(args, runtime);
  return { code, out: runtime.output(), err: runtime.errorOutput() };
};

/** A pack in a folder of its own, with its own copies of our libraries. */
const tickets = `
import { defineTool, registerCodes, toolError } from '@toolkeel/contract';
import * as z from 'zod';
console.log('a stray line');
const codes = registerCodes('tickets', {
  tickets_desk_locked: { retryable: false, description: 'Another agent edits the ticket', outcome: 'not_executed' },
});
const tools = (url) => [
  defineTool({
    name: 'list_tickets',
    description: 'List tickets.',
    effect: 'read',
    input: z.object({}),
    handler: () => ({ url }),
  }),
  defineTool({
    name: 'create_ticket',
    description: 'Create a ticket.',
    effect: 'once',
    input: z.object({ title: z.string() }),
    handler: async ({ title }) => {
      if (title === 'locked') return toolError(codes.tickets_desk_locked, 'It is locked.');
      return (await fetch(url, { method: 'POST', body: title })).json();
    },
  }),
];
const secret = z.strictObject({ env: z.string() });
export default {
  name: 'tickets',
  configSchema: z.strictObject({ url: z.string().default('http://127.0.0.1:9'), token: secret.optional() }),
  describe: () => tools(''),
  create: async ({ url }) => ({
    tools: tools(url),
    health: async () => ({ ok: true, detail: 'the desk is open' }),
    close: async () => {},
  }),
};
`;

const copies = mkdtempSync(join(tmpdir(), 'toolkeel-copies-'));

beforeAll(() => {
  for (const name of ['contract', 'kernel']) {
    const to = join(copies, 'node_modules', '@toolkeel', name);
    for (const part of ['dist', 'package.json']) {
      cpSync(join(root, 'packages', name, part), join(to, part), { recursive: true });
    }
  }
  symlinkSync(join(root, 'node_modules', 'zod'), join(copies, 'node_modules', 'zod'));
});
afterAll(() => rmSync(copies, { recursive: true, force: true }));

beforeEach(() => {
  symlinkSync(join(copies, 'node_modules'), join(dir(), 'node_modules'));
  write('package.json', { type: 'module' });
  write('packs/tickets.js', tickets);
  // As in a process of Node: the console of vitest bypasses stdout.
  vi.spyOn(console, 'log').mockImplementation((line) => void process.stdout.write(`${line}\n`));
});

afterEach(async () => {
  vi.restoreAllMocks();
  await endAll();
});

describe('a pack of a module', () => {
  let desk: Server;
  let created: string[];
  let url: string;

  beforeEach(async () => {
    created = [];
    desk = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        created.push(body);
        response.end(JSON.stringify({ id: created.length }));
      });
    });
    await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(desk.address() as AddressInfo).port}/`;
  });
  afterEach(() => void desk.close());

  it('is served with its settings, journal and error codes', async () => {
    configure({ module: './packs/tickets.js', url }, { profile: 'api' });
    const client = await overStdio([], place());
    expect(await client.tools()).toEqual(expect.arrayContaining(['create_ticket', 'list_tickets']));
    expect(await client.tools()).not.toContain('search_items');
    expect(await client.call('list_tickets')).toMatchObject({ data: { url } });
    const first = await client.call('create_ticket', { title: 'a' });
    const again = await client.call('create_ticket', { title: 'a' });
    expect(first).toMatchObject({ success: true, data: { id: 1 } });
    expect(again).toMatchObject({ data: { id: 1 }, meta: { idempotency: { replayed: true } } });
    expect(await client.call('create_ticket', { title: 'locked' })).toMatchObject({
      error: { code: 'tickets_desk_locked', retryable: false, outcome: 'not_executed' },
    });
    expect(created).toEqual(['a']);
    expect(client.stderr()).toContain('a stray line');
    await client.close();

    const listed = await command(['operations', 'list', '--json']);
    const { operations } = JSON.parse(listed.out) as { operations: readonly { tool: string }[] };
    expect(operations.map(({ tool }) => tool)).toEqual(['create_ticket', 'create_ticket']);
    expect(await command(['audit', 'verify'])).toMatchObject({ code: 0 });
  });

  it('is named with --pack, beside a built-in pack or alone', async () => {
    const up = toolkeel(['up', 'stac', '--pack', './packs/tickets.js', '--port', '0'], place());
    await up.waitForOutput(/Press Ctrl-C/);
    expect(up.out()).toContain('packs stac, tickets');
    const client = await overHttp(/MCP +(http:\S+)/.exec(up.out())?.[1] ?? '');
    expect(await client.tools()).toEqual(expect.arrayContaining(['search_items', 'list_tickets']));
    await client.close();
    up.kill('SIGTERM');
    expect(await up.ended).toEqual({ code: 0, signal: null });
    const alone = await finished(['manifest', '--pack', './packs/tickets.js'], place());
    expect(alone.out).toMatch(/^\{/); // what the module prints goes to stderr
    expect(alone.err).toContain('a stray line');
    const { tools } = JSON.parse(alone.out) as { tools: readonly { name: string }[] };
    expect(tools.map(({ name }) => name)).not.toContain('search_items');
  });

  it('has a manifest, checks of doctor and approvals like any other', async () => {
    configure({ module: './packs/tickets.js', url }, { profile: 'workflow' });
    const { out, err } = await command(['manifest']);
    expect(err).toContain('a stray line');
    const { tools } = JSON.parse(out) as { tools: readonly { name: string }[] };
    expect(tools.map(({ name }) => name)).not.toContain('search_items');
    const named = await command(['manifest', 'stac']);
    expect(named.out).toContain('"search_items"');
    expect(named.out).not.toContain('"create_ticket"');
    const entry = tools.find(({ name }) => name === 'create_ticket');
    expect(entry).toMatchObject({ category: 'tickets', mutation: true, effect: 'once' });
    expect((await command(['manifest', '--check'])).code).toBe(0);
    const { code, out: report } = await command(['doctor']);
    expect(code).toBe(0);
    expect(report).toMatch(/^ok +tickets +the desk is open$/m);

    const client = await overStdio([], place());
    const asked = await client.call('create_ticket', { title: 'typo' });
    const id = asked.error?.operation_id ?? '';
    const shown = await command(['approvals', 'show', id, '--json']);
    const { approval } = JSON.parse(shown.out) as { approval: { hash: string } };
    const edit = ['approvals', 'edit', id, '--hash', approval.hash, '--by', 'me', '--json'];
    expect(await command([...edit, '--set', 'titel=x'])).toMatchObject({ code: 1 });
    const edited = await command([...edit, '--set', 'title=right']);
    expect(edited).toMatchObject({ code: 0 });
    const { operation } = JSON.parse(edited.out) as { operation: { approval: { hash: string } } };
    const approve = ['approvals', 'approve', id, '--hash', operation.approval.hash, '--by', 'me'];
    expect((await command(approve)).out).toContain('Executed.');
    expect(created).toEqual(['right']);
    await client.close();
  });

  it('accepts edits of approvals also if its schema requires a secret', async () => {
    write('packs/tickets.js', tickets.replace('secret.optional()', 'secret'));
    const settings = { module: './packs/tickets.js', url };
    configure({ ...settings, token: { env: 'TOKEN' } }, { profile: 'workflow' });
    const client = await overStdio([], place({ TOKEN: 'hunter2-hunter2' }));
    const asked = await client.call('create_ticket', { title: 'typo' });
    const id = asked.error?.operation_id ?? '';
    const shown = await command(['approvals', 'show', id, '--json']);
    const { approval } = JSON.parse(shown.out) as { approval: { hash: string } };
    const edit = ['approvals', 'edit', id, '--hash', approval.hash, '--by', 'me'];
    expect(await command([...edit, '--set', 'title=right'])).toMatchObject({ code: 0 });
    configure(settings, { profile: 'workflow' });
    const refused = await command([...edit, '--set', 'title=left']);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toMatch(/cannot be created in this process \(.*packs\.tickets.*token.*\)/);
    await client.close();
  });

  it('may be a package, which is resolved from the configuration file', async () => {
    write('node_modules/tickets-pack/package.json', {
      name: 'tickets-pack',
      type: 'module',
      exports: { import: './main.js' },
    });
    write('node_modules/tickets-pack/main.js', `${tickets}\nexport const other = 1;`);
    configure({ module: 'tickets-pack', url });
    const { out, err } = await finished(['manifest'], place());
    expect(out).toContain('"create_ticket"');
    expect(err).toBe('a stray line\n');
  });

  it('runs with --sandbox only if it offers a sandbox', async () => {
    configure({ module: './packs/tickets.js', url });
    const refused = await finished(['serve', '--sandbox'], place());
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toMatch(
      /tickets: The pack tickets has no sandbox.*Name the packs to serve/,
    );
    const offer = `sandbox: async () => ({ settings: { url: 'http://sandbox' }, close: async () => {} }),`;
    write('packs/tickets.js', tickets.replace(`name: 'tickets',\n`, `name: 'tickets', ${offer}\n`));
    const client = await overStdio(['--sandbox'], place());
    expect(await client.call('list_tickets')).toMatchObject({ data: { url: 'http://sandbox' } });
    await client.close();
  });
});

describe('a module that is not a pack', () => {
  const named = (text: string) => tickets.replace("name: 'tickets'", text);

  it.each<[string, string, RegExp]>([
    ['cannot be parsed', 'export default {', /cannot be loaded: .*(end of input|syntax)/i],
    ['throws', 'throw new Error(`no ${process.env.DESK_TOKEN}`)', /cannot be loaded: no \[.*\]/],
    ['imports what is missing', "import 'not-installed';", /cannot be loaded: .*not-installed/],
    ['exports nothing', 'export const tools = [];', /exports no pack: export it as default/],
    ['has another name', named("name: 'desk'"), /exports the pack "desk": use this name/],
    ['has no valid name', named("name: '../x'"), /its name must match/],
    [
      'has no schema',
      tickets.replace(/configSchema: .*\n/, 'configSchema: { safeParse() {} },\n'),
      /its configSchema must be a schema of zod 4/,
    ],
    [
      'cannot be created',
      tickets.replace('create: async', 'make: async'),
      /describe and create must be functions/,
    ],
    [
      'fails to describe itself',
      tickets.replace("describe: () => tools('')", "describe: () => { throw new Error('later') }"),
      /cannot be loaded: later/,
    ],
    [
      'describes no tool',
      tickets.replace("describe: () => tools('')", 'describe: () => []'),
      /describes no tools/,
    ],
    [
      'has a tool that would bypass the journal',
      tickets.replace(
        "tools('')",
        "[{ name: 'create_ticket', effect: 'once', profiles: ['api'] }]",
      ),
      /the tool create_ticket was not created with defineTool/,
    ],
  ])('stops the start if it %s', async (_, source, reason) => {
    write('packs/broken.js', source);
    configure({ module: './packs/broken.js' });
    process.env['DESK_TOKEN'] = 'secret-of-the-desk';
    const env = { DESK_TOKEN: 'secret-of-the-desk' };
    const { code, out, err } = await command(['serve'], env);
    delete process.env['DESK_TOKEN'];
    expect({ code, out }).toEqual({ code: 2, out: '' });
    const file = join(dir(), 'toolkeel.config.json');
    expect(err).toContain(`toolkeel: ${file}: /packs/tickets/module: the module ./packs/broken.js`);
    expect(err).toMatch(reason);
    expect(err).not.toContain(env.DESK_TOKEN);
  });

  it('stops the start if the file is missing, with the path that is meant', async () => {
    configure({ module: 'packs/tickets.js' });
    const bare = await command(['manifest']);
    expect(bare).toMatchObject({ code: 2, out: '' });
    expect(bare.err).toContain('Did you mean "./packs/tickets.js"?');
    expect((await command(['doctor'])).out).toMatch(/^FAIL +configuration .*packs\/tickets\.js/m);
    const flag = await command(['manifest', '--pack', './gone.js']);
    expect(flag).toMatchObject({ code: 2, out: '' });
    expect(flag.err).toMatch(/--pack: the module \.\/gone\.js cannot be loaded/);
    expect(flag.err).not.toContain('imported from');
  });

  it('cannot take the name of a built-in pack', async () => {
    write('toolkeel.config.json', { packs: { stac: { module: './packs/tickets.js' } } });
    const configured = await command(['serve']);
    expect(configured).toMatchObject({ code: 2 });
    expect(configured.err).toMatch(/\/packs\/stac\/module: .*"stac", which is built in/);
    write('toolkeel.config.json', {});
    write('packs/stac.js', named("name: 'stac'"));
    const flag = await command(['serve', '--pack', './packs/stac.js']);
    expect(flag).toMatchObject({ code: 2 });
    expect(flag.err).toMatch(/--pack: .*"stac", which is built in/);
  });
});

describe('the settings of a module pack', () => {
  it.each<[object, RegExp]>([
    [{ ulr: 'x' }, /\/packs\/tickets\/ulr: is not a known setting\. Did you mean "url"\?/],
    [{ url: 1 }, /\/packs\/tickets\/url: /],
    [
      { token: 'hunter2-hunter2' },
      /\/packs\/tickets\/token: is a secret in plain text: use \{ "env"/,
    ],
    [{ token: { env: 'NOT_SET' } }, /\/packs\/tickets\/token: the variable NOT_SET is not set/],
  ])('are validated by its schema: %j', async (settings, message) => {
    configure({ module: './packs/tickets.js', ...settings });
    const { code, err } = await command(['serve']);
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(err).not.toContain('hunter2');
  });

  it('are reported with file and path if the whole section is missing', async () => {
    write('packs/strict.js', tickets.replace('url: z.', 'board: z.string(), url: z.'));
    const { code, err } = await command(['serve', '--pack', './packs/strict.js']);
    expect(code).toBe(2);
    expect(err).toMatch(/toolkeel\.config\.json: \/packs\/tickets: is missing/);
    expect(err).toMatch(/toolkeel\.config\.json: \/packs\/tickets\/board: Invalid input/);
  });

  it('are not read while another pack is served', async () => {
    write('packs/tickets.js', 'throw new Error("not loaded")');
    configure({ module: './packs/tickets.js', token: { env: 'NOT_SET' } });
    expect(await finished(['serve', 'stac'], place())).toMatchObject({ code: 0, out: '', err: '' });
  });
});
