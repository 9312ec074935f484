import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../errors.js';
import { fakeRuntime, useTempDir } from '../runtime.fixture.js';
import { adopt } from './adopt.js';
import { configFiles, guardServers, parseJsonc } from './host-config.js';
import { lineDiff } from './line-diff.js';

const home = useTempDir();
const read = (file: string) => readFileSync(file, 'utf8');
const runtime = () => fakeRuntime({ cwd: join(home(), 'project'), env: { HOME: home() } });

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

interface Entry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const entryAt = (text: string, ...path: string[]): Entry =>
  path.reduce<unknown>(
    (value, key) => (value as Record<string, unknown>)[key],
    parseJsonc(text),
  ) as Entry;

const guardArgs = ({ args = [] }: Entry) => args.slice(args.indexOf('guard'));

/** A configuration of each client, with what such files contain besides servers. */
const documents = {
  'claude-desktop': {
    path: ['mcpServers', 'files'],
    text: '{\n  "globalShortcut": "Ctrl+Space",\n  "mcpServers": {\n    "files": {\n      "command": "npx",\n      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/notes"],\n      "env": { "TOKEN": "secret-1234" }\n    }\n  }\n}\n',
    kept: ['"globalShortcut": "Ctrl+Space"', '"env": { "TOKEN": "secret-1234" }'],
  },
  'claude-code': {
    path: ['projects', '/home/me/app', 'mcpServers', 'files'],
    text: '{\n\t"numStartups": 12,\n\t"projects": {\n\t\t"/home/me/app": {\n\t\t\t"allowedTools": [],\n\t\t\t"mcpServers": { "files": { "type": "stdio", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/notes"] } }\n\t\t}\n\t}\n}',
    kept: ['\t"numStartups": 12', '"allowedTools": []', '"type": "stdio"'],
  },
  cursor: {
    path: ['mcpServers', 'files'],
    text: '{\r\n    // of the team\r\n    "mcpServers": {\r\n        "files": {\r\n            "command": "npx",\r\n            "args": ["-y", "@modelcontextprotocol/server-filesystem", "/notes"], // the notes\r\n            "disabled": false\r\n        }\r\n    }\r\n}\r\n',
    kept: ['// of the team\r\n', '// the notes\r\n', '"disabled": false'],
  },
  vscode: {
    path: ['servers', 'files'],
    text: '{\n  "inputs": [{ "id": "key", "type": "promptString", "password": true }],\n  "servers": {\n    /* local */\n    "files": {\n      "type": "stdio",\n      "command": "npx",\n      "args": [\n        "-y", // no question\n        "@modelcontextprotocol/server-filesystem",\n        "/notes",\n      ],\n      "env": { "KEY": "${input:key}" },\n    },\n  },\n}\n',
    kept: ['/* local */', '// no question', '"KEY": "${input:key}"', '"type": "promptString"'],
  },
} as const;

describe.each(Object.entries(documents))('init --from %s', (client, { path, text, kept }) => {
  const place = () =>
    configFiles(client as keyof typeof documents, {
      cwd: join(home(), 'project'),
      home: home(),
      platform: process.platform,
    }).at(-1) ?? '';

  it('puts the guard in front of the server and keeps comments and unknown members', async () => {
    const file = write(place(), text);
    const shown = runtime();
    expect(await adopt({ from: client, yes: true }, shown)).toBe(0);
    expect(guardArgs(entryAt(read(file), ...path))).toEqual([
      'guard',
      '--name',
      'files',
      '--',
      'npx',
      '-y',
      '@modelcontextprotocol/server-filesystem',
      '/notes',
    ]);
    for (const part of kept) expect(read(file)).toContain(part);
    expect(shown.output()).toMatch(/^\+ .*"guard"/m);
    expect(shown.output()).not.toContain('secret-1234');
  });

  it('restores the file byte for byte with --undo', async () => {
    const file = write(place(), text);
    await adopt({ from: client, yes: true }, runtime());
    expect(read(file)).not.toBe(text);
    expect(await adopt({ from: client, undo: true, yes: true }, runtime())).toBe(0);
    expect(read(file)).toBe(text);
    expect(existsSync(`${file}.toolkeel-backup`)).toBe(false);
  });

  it('refuses --undo with a diff if the file changed since', async () => {
    const file = write(place(), text);
    await adopt({ from: client, yes: true }, runtime());
    const changed = read(file).replace('"/notes"', '"/other"');
    writeFileSync(file, changed);
    const shown = runtime();
    expect(await adopt({ from: client, undo: true, yes: true }, shown)).toBe(1);
    expect(read(file)).toBe(changed);
    expect(shown.output()).toMatch(/^- .*"\/notes"/m);
    expect(shown.output()).toMatch(/^\+ .*"\/other"/m);
    expect(shown.errorOutput()).toContain('changed since it was guarded');
  });
});

describe('init --from FILE', () => {
  const file = () => join(home(), 'servers.json');
  const servers = (given: object) => write(file(), JSON.stringify({ mcpServers: given }, null, 2));
  const guarded = async (given: object) => {
    servers(given);
    const shown = runtime();
    const code = await adopt({ from: file(), yes: true }, shown);
    return { code, shown, text: read(file()) };
  };

  it('moves the headers of a server on HTTP to variables, never to arguments', async () => {
    const { text, shown } = await guarded({
      api: {
        type: 'http',
        url: 'https://mcp.example.com/mcp',
        headers: { Authorization: 'Bearer abcdef' },
      },
    });
    const entry = entryAt(text, 'mcpServers', 'api');
    expect(guardArgs(entry)).toEqual([
      'guard',
      '--name',
      'api',
      '--url',
      'https://mcp.example.com/mcp',
      '--header-env',
      'Authorization=TOOLKEEL_HEADER_1',
    ]);
    expect(entry.env).toEqual({ TOOLKEEL_HEADER_1: 'Bearer abcdef' });
    expect(entry).not.toHaveProperty('headers');
    expect(entry).not.toHaveProperty('url');
    expect(shown.output()).not.toContain('abcdef');
  });

  it.each([
    'https://mcp.example.com/mcp?api_key=abcdef',
    'https://me:abcdef@mcp.example.com/mcp',
    'https://mcp.example.com/s/abcdef0123456789/mcp',
    'https://mcp.example.com/${input:abcdef}',
  ])('keeps an address that may be secret out of the arguments: %s', async (url) => {
    const { text, shown } = await guarded({ api: { url, headers: { a: 'key-1' } } });
    const entry = entryAt(text, 'mcpServers', 'api');
    expect(guardArgs(entry).slice(0, 5)).toEqual([
      'guard',
      '--name',
      'api',
      '--url-env',
      'TOOLKEEL_URL',
    ]);
    expect(entry.env).toEqual({ TOOLKEEL_URL: url, TOOLKEEL_HEADER_1: 'key-1' });
    expect(shown.output()).not.toContain('abcdef');
  });

  it('keeps a byte order mark, and restores the file with it', async () => {
    const text = '\uFEFF{\r\n  "mcpServers": { "files": { "command": "server" } }\r\n}\r\n';
    write(file(), text);
    expect(await adopt({ from: file(), yes: true }, runtime())).toBe(0);
    expect(read(file())).toMatch(/^\uFEFF\{\r\n/);
    expect(guardArgs(entryAt(read(file()), 'mcpServers', 'files')).at(-1)).toBe('server');
    expect(await adopt({ from: file(), undo: true, yes: true }, runtime())).toBe(0);
    expect(read(file())).toBe(text);
  });

  it('refuses a file that is not UTF-8 instead of damaging it', async () => {
    const bytes = Buffer.from(
      '{ /* caf\xe9 */ "mcpServers": { "a": { "command": "b" } } }',
      'latin1',
    );
    writeFileSync(write(file(), ''), bytes);
    await expect(adopt({ from: file(), yes: true }, runtime())).rejects.toThrow(/is not UTF-8/);
    expect(readFileSync(file())).toEqual(bytes);
    expect(existsSync(`${file()}.toolkeel-backup`)).toBe(false);
  });

  it('keeps the original of servers that were guarded before, when it guards new ones', async () => {
    await guarded({ files: { command: 'server', args: ['a'] }, mine: { command: 'm' } });
    const changed = parseJsonc(read(file())) as { mcpServers: Record<string, unknown> };
    changed.mcpServers['new'] = { command: 'other' };
    changed.mcpServers['mine'] = { command: 'replaced by hand' };
    writeFileSync(file(), JSON.stringify(changed));
    expect(await adopt({ from: file(), yes: true, force: true }, runtime())).toBe(0);
    expect(guardArgs(entryAt(read(file()), 'mcpServers', 'new')).at(-1)).toBe('other');
    expect(await adopt({ from: file(), undo: true, yes: true }, runtime())).toBe(0);
    expect(parseJsonc(read(file()))).toEqual({
      mcpServers: {
        files: { command: 'server', args: ['a'] },
        mine: { command: 'replaced by hand' },
        new: { command: 'other' },
      },
    });
  });

  it('names the copy that is missing when it cannot restore the file', async () => {
    await guarded({ files: { command: 'server' } });
    rmSync(`${file()}.toolkeel-guarded`);
    const shown = runtime();
    expect(await adopt({ from: file(), undo: true, yes: true }, shown)).toBe(1);
    expect(shown.errorOutput()).toContain('.toolkeel-guarded does not exist');
    expect(shown.errorOutput()).toContain('The original is in');
  });

  it('leaves servers that it cannot guard, and says why', async () => {
    const { code, text, shown } = await guarded({
      remote: { url: 'https://mcp.example.com/mcp' },
      old: { type: 'sse', url: 'http://127.0.0.1:1/sse', headers: { a: 'b' } },
      odd: {},
      done: { command: 'toolkeel', args: ['guard', '--', 'npx', 'x'] },
      files: { command: 'server' },
    });
    expect(code).toBe(0);
    expect(guardArgs(entryAt(text, 'mcpServers', 'files'))).toEqual([
      'guard',
      '--name',
      'files',
      '--',
      'server',
    ]);
    expect(entryAt(text, 'mcpServers', 'remote')).toEqual({ url: 'https://mcp.example.com/mcp' });
    expect(shown.output()).toContain('Left remote: it is remote and has no headers');
    expect(shown.output()).toContain('Left old: it uses the transport SSE');
    expect(shown.output()).toContain('Left odd: it has neither a command nor a URL');
    expect(shown.output()).toContain('Left done: it is guarded already');
  });

  it('does not guard a guarded server again', async () => {
    await guarded({ files: { command: 'server' } });
    const once = read(file());
    const again = runtime();
    expect(await adopt({ from: file(), yes: true }, again)).toBe(1);
    expect(again.errorOutput()).toContain('--undo');
    expect(await adopt({ from: file(), yes: true, force: true }, runtime())).toBe(1);
    expect(read(file())).toBe(once);
  });

  it('writes nothing without a confirmation', async () => {
    servers({ files: { command: 'server' } });
    const before = read(file());
    const shown = runtime();
    expect(await adopt({ from: file() }, shown)).toBe(1);
    expect(shown.errorOutput()).toContain('Use --yes');
    const declined = { ...runtime(), isInteractive: true, confirm: () => Promise.resolve(false) };
    expect(await adopt({ from: file() }, declined)).toBe(1);
    expect(read(file())).toBe(before);
    expect(existsSync(`${file()}.toolkeel-backup`)).toBe(false);
  });

  it('keeps the mode of the file, also for the copies', async () => {
    servers({ files: { command: 'server' } });
    chmodSync(file(), 0o600);
    await adopt({ from: file(), yes: true }, runtime());
    for (const suffix of ['', '.toolkeel-backup', '.toolkeel-guarded']) {
      expect(statSync(file() + suffix).mode & 0o777).toBe(0o600);
    }
  });

  it('restores only the guarded entries with --undo --force, and keeps other changes', async () => {
    await guarded({ files: { command: 'server', args: ['a'] } });
    const changed = parseJsonc(read(file())) as { mcpServers: Record<string, unknown> };
    changed.mcpServers['new'] = { command: 'other' };
    writeFileSync(file(), JSON.stringify(changed));
    expect(await adopt({ from: file(), undo: true, force: true, yes: true }, runtime())).toBe(0);
    expect(parseJsonc(read(file()))).toEqual({
      mcpServers: { files: { command: 'server', args: ['a'] }, new: { command: 'other' } },
    });
  });

  it.each([
    ['{ "mcpServers": ', /line 1/],
    ['[]', /not an object/],
  ])('refuses %j without changing it', async (text, reason) => {
    write(file(), text);
    await expect(adopt({ from: file(), yes: true }, runtime())).rejects.toThrow(reason);
    expect(read(file())).toBe(text);
  });

  it('names the files that it looked for', async () => {
    await expect(adopt({ from: 'cursor' }, runtime())).rejects.toThrow(/\.cursor/);
    await expect(adopt({ from: 'nowhere.json' }, runtime())).rejects.toThrow(UsageError);
  });

  it('shows a changed file that is no longer valid, without its secrets', async () => {
    await guarded({ files: { command: 'server', env: { KEY: 'secret-9876' } } });
    writeFileSync(file(), `${read(file()).slice(0, -4)} oops`);
    const shown = runtime();
    expect(await adopt({ from: file(), undo: true, yes: true }, shown)).toBe(1);
    expect(shown.output()).toContain('oops');
    expect(shown.output()).not.toContain('secret-9876');
  });
});

it('keeps the layout of a file whose members share lines', () => {
  const text =
    '{"a":[1, 2],"mcpServers":{"x":{"command":"x"}, // ours\n"y":{"command":"y","args":["z"]}},"b":{"c":[ 3.0]}}';
  const launch = (args: readonly string[]) => ({ command: 'guard', args });
  expect(guardServers(text, launch, 'guard').text).toBe(
    '{"a":[1, 2],"mcpServers":{"x":{"command":"guard","args": ["--name","x","--","x"]}, // ours\n"y":{"command":"guard","args":["--name","y","--","y","z"]}},"b":{"c":[ 3.0]}}',
  );
});

it('keeps every argument of a server in order', () => {
  const word = fc.string();
  fc.assert(
    fc.property(word, fc.array(word), (command, args) => {
      const text = JSON.stringify({ mcpServers: { a: { command, args } } }, null, 2);
      const launch = (guard: readonly string[]) => ({
        command: 'toolkeel',
        args: ['guard', ...guard],
      });
      const { text: edited, guarded } = guardServers(text, launch, 'toolkeel');
      if (guarded.length === 0) return; // a command that is a guard itself
      expect(guardArgs(entryAt(edited, 'mcpServers', 'a'))).toEqual([
        'guard',
        '--name',
        'a',
        '--',
        command,
        ...args,
      ]);
    }),
  );
});

describe('lineDiff', () => {
  it('marks the changed lines and shows two lines around them', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng';
    expect(lineDiff(before, before.replace('d', 'x'))).toBe('  …\n  b\n  c\n- d\n+ x\n  e\n  f\n');
    expect(lineDiff('a', 'a')).toBe('');
  });

  it('contains both texts', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c')).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const all = (keep: string) =>
          lineDiff(before, after)
            .split('\n')
            .filter((line) => line.startsWith(keep)).length;
        const difference = after.split('\n').length - before.split('\n').length;
        expect(all('+') - all('-')).toBe(difference);
      }),
    );
  });
});
