import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { UsageError } from '../errors.js';
import { fakeRuntime, useTempDir } from '../runtime.fixture.js';
import { readHostUpstreams } from './host-upstreams.js';

const dir = useTempDir();
const read = (document: unknown, env: Readonly<Record<string, string>> = {}) => {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  writeFileSync(join(dir(), 'mcp.json'), text);
  const runtime = fakeRuntime({ cwd: dir(), env });
  return { chosen: readHostUpstreams('mcp.json', runtime), runtime };
};

it('takes the servers of a client with comments and members that only the client knows', () => {
  const { chosen, runtime } = read(
    '{ // mine\n "servers": { "a": { "type": "stdio", "command": "x", "alwaysAllow": ["y"], "trust": "none", }, "b": { "command": "y", "disabled": true } } }',
  );
  expect(chosen).toMatchObject([{ name: 'a', config: { command: 'x', trust: 'none', args: [] } }]);
  expect(runtime.errorOutput()).toContain('Left b: it is disabled.');
});

it('fills in variables as clients do, and leaves servers that need a value that is not set', () => {
  const mcpServers = {
    a: { command: '${BIN:-node}', args: ['${env:DIR}/x'], env: { KEY: '${KEY}' } },
    b: { command: 'x', env: { KEY: '${input:key}' } },
    c: { command: 'x', args: ['${MISSING}'] },
  };
  const { chosen, runtime } = read({ mcpServers }, { DIR: '/d', KEY: 'k' });
  expect(chosen).toMatchObject([
    { name: 'a', config: { command: 'node', args: ['/d/x'], env: { KEY: 'k' } } },
  ]);
  expect(runtime.errorOutput()).toContain('Left b: it needs ${input:key}, which is not set.');
  expect(runtime.errorOutput()).toContain('Left c: it needs ${MISSING}, which is not set.');
});

it('finds files of a server beside its file and in the workspace', () => {
  mkdirSync(join(dir(), '.vscode'));
  const servers = {
    a: { command: 'x', envFile: '.env' },
    b: { command: 'x', cwd: '${workspaceFolder}/b', envFile: '${workspaceFolder}/.env' },
  };
  const file = join(dir(), '.vscode', 'mcp.json');
  writeFileSync(file, JSON.stringify({ servers }));
  const runtime = fakeRuntime({ cwd: dir(), env: {} });
  writeFileSync(join(dir(), '.env'), '');
  expect(readHostUpstreams(file, runtime)).toMatchObject([{ name: 'b' }]);
  expect(runtime.errorOutput()).toMatch(
    /Left a: it needs .*\.env \(envFile\), which does not exist/,
  );
  for (const place of ['.', '.vscode']) writeFileSync(join(dir(), place, '.env'), '');
  expect(readHostUpstreams(file, runtime)).toMatchObject([
    { name: 'a', config: { envFile: join(dir(), '.vscode', '.env') } },
    { name: 'b', config: { cwd: join(dir(), 'b'), envFile: join(dir(), '.env') } },
  ]);
});

it('gave two servers of two projects one account', () => {
  const projects = {
    '/one': { mcpServers: { db: { command: 'db-one' } } },
    '/two': { mcpServers: { db: { command: 'db-two' } } },
  };
  const names = read({ projects }).chosen.map(({ name }) => name);
  expect(names).toEqual(['db', expect.stringMatching(/^db-[0-9a-f]{8}$/)]);
});

it('takes the servers of a file that was guarded before', () => {
  const guard = (...args: string[]) => ({
    command: 'npx',
    args: ['-y', 'toolkeel', 'guard', ...args],
  });
  const mcpServers = {
    a: { ...guard('--name', 'a', '--', 'server', '--', 'x'), env: { K: 'v' } },
    b: {
      ...guard(
        '--name',
        'b',
        '--url',
        'https://mcp.example.com/mcp',
        '--header-env',
        'X-Key=TOOLKEEL_HEADER_1',
      ),
      type: 'stdio',
      env: { TOOLKEEL_HEADER_1: 'k' },
    },
    c: {
      ...guard('--name', 'c', '--url-env', 'TOOLKEEL_URL'),
      env: { TOOLKEEL_URL: 'http://127.0.0.1:1/mcp?key=k' },
    },
  };
  expect(read({ mcpServers }).chosen).toMatchObject([
    { name: 'a', config: { command: 'server', args: ['--', 'x'], env: { K: 'v' } } },
    {
      name: 'b',
      config: {
        url: 'https://mcp.example.com/mcp',
        headers: { 'X-Key': { env: 'TOOLKEEL_HEADER_1' } },
        env: { TOOLKEEL_HEADER_1: 'k' },
      },
    },
    { name: 'c', config: { url: 'http://127.0.0.1:1/mcp?key=k' } },
  ]);
});

it.each([
  ['{', /cannot be read: line 1/],
  ['{ "mcpServers": {} }', /has no server to guard/],
  ['{ "mcpServers": { "a": { "command": "x", "args": "y" } } }', /a\.args/],
  [
    '{ "mcpServers": { "a": { "command": "x", "exclud": ["y"] } } }',
    /a\.exclud is not .* "exclude"/,
  ],
  ['{ "mcpServers": { "a": { "command": "x", "disabledTools": ["y"] } } }', /disabledTools is not/],
])('refuses %j', (text, reason) => {
  expect(() => read(text)).toThrow(reason);
});

it('names a file that does not exist', () => {
  const runtime = fakeRuntime({ cwd: dir(), env: {} });
  expect(() => readHostUpstreams('none.json', runtime)).toThrow(UsageError);
});
