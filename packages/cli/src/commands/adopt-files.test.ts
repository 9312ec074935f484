import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeRuntime, useTempDir } from '../runtime.fixture.js';
import { adopt } from './adopt.js';
import { guardServers, parseJsonc, serversOf, type ServerEntry } from './host-config.js';

const home = useTempDir();
const file = () => join(home(), 'servers.json');
const read = (path: string) => readFileSync(path, 'utf8');
const write = (path: string, text: string) => {
  writeFileSync(path, text);
  return path;
};
const runtime = () => fakeRuntime({ cwd: home(), env: { HOME: home() } });
const guarded = async (servers: object) => {
  write(file(), JSON.stringify({ mcpServers: servers }, null, 2));
  const shown = runtime();
  const code = await adopt({ from: file(), yes: true }, shown);
  return { code, shown, text: read(file()) };
};
const entryOf = (text: string, name: string): ServerEntry =>
  serversOf(text).find((server) => server.name === name)?.entry ?? {};
const launch = (args: readonly string[]) => ({ command: 'toolkeel', args: ['guard', ...args] });

describe('init --from FILE', () => {
  it.each([
    ['--api-key', 'sk-123456'],
    ['--token=ghp-123456'],
    ['postgresql://me:pass-123456@host/db'],
    ['--header', 'Authorization: Bearer 123456'],
    ['-e', 'ANY=value-123456'],
  ])('does not show the secret in the arguments %j', async (...args) => {
    const { shown, text } = await guarded({ api: { command: 'server', args } });
    expect((entryOf(text, 'api').args as string[]).slice(-args.length)).toEqual(args);
    expect(shown.output()).toContain('…');
    expect(shown.output()).not.toContain('123456');
    const again = runtime();
    writeFileSync(file(), read(file()).replace('"server"', '"other"'));
    expect(await adopt({ from: file(), undo: true, yes: true }, again)).toBe(1);
    expect(again.output()).not.toContain('123456');
  });

  it('does not show secrets however they are written, or outside of the servers', async () => {
    const text = String.raw`{
  "apiKey": "top-123456",
  // "OLD_TOKEN": "old-123456",
  "mcpServers": { "a": { "command": "b", "env": { "PIN": 123456, "ESC": "abcd-123456" } } }
}`;
    write(file(), text);
    const shown = runtime();
    expect(await adopt({ from: file(), yes: true }, shown)).toBe(0);
    expect(shown.output()).toContain('"PIN": "…"');
    expect(shown.output()).not.toContain('123456');
  });

  it('refuses a file in which a server is there twice: clients use the last one', async () => {
    const text = '{"mcpServers":{"a":{"command":"x"},\n"a":{"command":"y"}}}';
    write(file(), text);
    const refused = adopt({ from: file(), yes: true }, runtime());
    await expect(refused).rejects.toThrow(/line 2: "a" is there twice/);
    expect(read(file())).toBe(text);
    // Elsewhere it is no concern of the guard.
    write(file(), '{"x":1,"x":2,"mcpServers":{"a":{"command":"x"}}}');
    expect(await adopt({ from: file(), yes: true }, runtime())).toBe(0);
  });

  it('leaves entries whose arguments are no list of strings instead of dropping them', async () => {
    const { code, shown } = await guarded({
      a: { command: 'x', args: 'y' },
      b: { command: 'x', args: [1] },
      c: { command: ' ' },
    });
    expect(code).toBe(1);
    expect(shown.output().match(/not a list of strings|empty command/g)).toHaveLength(3);
  });

  it('does not guard the guard of another installation', async () => {
    for (const script of [
      '/old/packages/cli/dist/bin.js',
      'C:\\x\\node_modules\\toolkeel\\dist\\bin.js',
    ]) {
      const args = [script, 'guard', '--name', 'a', '--', 'x'];
      const { code, shown } = await guarded({ a: { command: 'node', args } });
      expect(code).toBe(1);
      expect(shown.output()).toContain('Left a: it is guarded already.');
    }
  });

  it('leaves a file alone that is read-only', async () => {
    const text = '{"mcpServers":{"a":{"command":"x"}}}';
    chmodSync(write(file(), text), 0o400);
    const shown = runtime();
    expect(await adopt({ from: file(), yes: true }, shown)).toBe(1);
    expect(shown.errorOutput()).toContain('is read-only');
    expect(read(file())).toBe(text);
    chmodSync(file(), 0o600);
  });

  it('keeps the backup of the original when the copy of the guarded file is lost', async () => {
    const { text } = await guarded({ a: { command: 'x' } });
    rmSync(`${file()}.toolkeel-guarded`);
    const more = parseJsonc(text) as { mcpServers: Record<string, unknown> };
    more.mcpServers['new'] = { command: 'y' };
    writeFileSync(file(), JSON.stringify(more));
    expect(await adopt({ from: file(), yes: true, force: true }, runtime())).toBe(0);
    expect(await adopt({ from: file(), undo: true, yes: true }, runtime())).toBe(0);
    expect(parseJsonc(read(file()))).toEqual({
      mcpServers: { a: { command: 'x' }, new: { command: 'y' } },
    });
  });

  it('names the backup of a file that is gone, and what is no file', async () => {
    await guarded({ a: { command: 'x' } });
    rmSync(file());
    const undone = adopt({ from: file(), undo: true, yes: true }, runtime());
    await expect(undone).rejects.toThrow(/original is in .*servers\.json\.toolkeel-backup/);
    await expect(adopt({ from: home(), yes: true }, runtime())).rejects.toThrow(/is not a file/);
  });

  it('names the other file of a client, which it does not change', async () => {
    const text = '{"mcpServers":{"a":{"command":"x"}}}';
    const [project, user] = [join(home(), '.mcp.json'), join(home(), '.claude.json')];
    for (const path of [project, user]) write(path, text);
    const shown = runtime();
    expect(await adopt({ from: 'claude-code', yes: true }, shown)).toBe(0);
    expect(shown.output()).toContain(`init --from ${user}\n`);
    expect([read(project) === text, read(user) === text]).toEqual([false, true]);
  });

  it('names the entries that are still guarded after --undo', async () => {
    const { text } = await guarded({ a: { command: 'x' } });
    write(file(), text.replace('"a": {', '"renamed": {'));
    const shown = runtime();
    expect(await adopt({ from: file(), undo: true, yes: true, force: true }, shown)).toBe(0);
    expect(shown.output()).toContain('Still guarded: renamed.');
  });

  it('takes a file that was restored by hand for restored', async () => {
    await guarded({ a: { command: 'x' } });
    writeFileSync(file(), read(`${file()}.toolkeel-backup`));
    expect(await adopt({ from: file(), undo: true, yes: true }, runtime())).toBe(0);
    expect(existsSync(`${file()}.toolkeel-backup`)).toBe(false);
    expect(existsSync(`${file()}.toolkeel-guarded`)).toBe(false);
  });
});

describe('guardServers', () => {
  it('keeps the comments of a server on HTTP', () => {
    const text = `{
  "servers": {
    // production
    "api": {
      "type": "http", // remote
      "url": "https://x.example/mcp?key=abc", // the EU region
      "headers": {
        // from the vault
        "Authorization": "Bearer abc" /* rotate */
      }, // end
      "more": 1
    }
  }
}`;
    const { text: after } = guardServers(text, launch, 'own');
    for (const [comment] of text.matchAll(/\/\/ .*|\/\*.*?\*\//g)) expect(after).toContain(comment);
    expect(entryOf(after, 'api')).toMatchObject({
      type: 'stdio',
      command: 'toolkeel',
      args: expect.arrayContaining(['--url-env', 'Authorization=TOOLKEEL_HEADER_1']),
      env: { TOOLKEEL_HEADER_1: 'Bearer abc', TOOLKEEL_URL: 'https://x.example/mcp?key=abc' },
      more: 1,
    });
    for (const member of ['url', 'headers'])
      expect(entryOf(after, 'api')).not.toHaveProperty(member);
  });

  it('keeps every comment and member, wherever comments are', () => {
    const space = fc.constantFrom(
      '',
      ' ',
      '\t',
      '\r\n',
      '\n  ',
      '/*c#*/',
      '//c#\n',
      ' /*c#*/\n//c#\n',
    );
    const word = fc.constantFrom('"a"', '"b c"', '"é"', '"${input:x}"', '"x\\"y"', '"--"');
    const listOf = (items: fc.Arbitrary<string>) =>
      fc
        .tuple(fc.array(fc.tuple(space, items, space), { maxLength: 3 }), space)
        .map(([parts, end]) => `${parts.map((part) => part.join('')).join(',')}${end}`);
    const args = listOf(word).map((text) => `[${text}]`);
    const object = (members: readonly (readonly [string, fc.Arbitrary<string>])[]) =>
      fc
        .tuple(
          fc.tuple(...members.map(([, value]) => fc.tuple(space, space, space, value, space))),
          fc.shuffledSubarray([...members.keys()], { minLength: members.length }),
          fc.boolean(),
        )
        .map(([values, order, hasComma]) => {
          const texts = order.map((at) => {
            const [s1 = '', s2 = '', s3 = '', value = '', s4 = ''] = values[at] ?? [];
            return `${s1}"${members[at]?.[0]}"${s2}:${s3}${value}${s4}`;
          });
          return `{${texts.join(',')}${hasComma ? ',' : ''}}`;
        });
    const more = object([['q', args]]);
    const local = object([
      ['command', word],
      ['args', args],
      ['env', object([['K', word]])],
      ['more', more],
    ]);
    const remote = object([
      ['type', fc.constant('"http"')],
      ['url', fc.constant('"http://h.example/mcp"')],
      ['headers', object([['H', word]])],
      ['more', more],
    ]);
    const servers = object([
      ['local', local],
      ['remote', remote],
    ]);
    const document = object([
      ['a', word],
      ['mcpServers', servers],
    ]);
    fc.assert(
      fc.property(document, (template) => {
        let count = 0;
        const text = template.replaceAll('#', () => `${count++};`);
        const { text: after, guarded: paths } = guardServers(text, launch, 'own');
        expect(paths).toHaveLength(2);
        for (let at = 0; at < count; at++) expect(after).toContain(`c${at};`);
        const before = entryOf(text, 'local');
        expect(entryOf(after, 'local')).toEqual({
          ...before,
          command: 'toolkeel',
          args: ['guard', '--name', 'local', '--', before.command, ...(before.args as string[])],
        });
        const { headers, url: _url, ...others } = entryOf(text, 'remote');
        expect(entryOf(after, 'remote')).toEqual({
          ...others,
          type: 'stdio',
          command: 'toolkeel',
          args: expect.arrayContaining(['--url', 'H=TOOLKEEL_HEADER_1']),
          env: { TOOLKEEL_HEADER_1: (headers as { H: string }).H },
        });
        expect(parseJsonc(after)).toMatchObject({ a: (parseJsonc(text) as { a: string }).a });
      }),
      { numRuns: 300 },
    );
  });
});
