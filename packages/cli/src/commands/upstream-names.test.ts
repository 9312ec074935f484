import { describe, expect, it } from 'vitest';
import { formerNameOf, nameOfAddress, nameOfCommand } from './upstream-names.js';

const nameOf = (words: string, cwd = '/srv'): string => {
  const [command = '', ...args] = words.split(' ');
  return nameOfCommand(command, args, cwd);
};

describe('the name of a server that is given without one', () => {
  it.each([
    ['docker run -i --rm mcp/tickets', 'tickets'],
    ['docker run -i -e TOKEN --name x ghcr.io/owner/billing:1.2 stdio', 'billing'],
    ['/usr/local/bin/node /srv/one/dist/index.mjs', 'one'],
    ['npx -y @modelcontextprotocol/server-filesystem /home/me/notes', 'server-filesystem'],
    ['uvx mcp-server-git==1.0', 'mcp-server-git'],
    ['/opt/bin/github-mcp-server stdio', 'github-mcp-server'],
    ['node', 'node'],
  ])('of %s can be read', (words, readable) => {
    const name = nameOf(words);
    expect(name).toMatch(/-[0-9a-f]{8}$/);
    expect(name.slice(0, -9)).toBe(readable);
  });

  it.each([
    ['docker run -i --rm mcp/tickets', 'docker run -i --rm mcp/billing'],
    ['docker run -i --rm mcp/tickets:1', 'docker run -i --rm mcp/tickets:2'],
    ['docker run -e A=1 mcp/tickets', 'docker run -e A=2 mcp/tickets'],
    ['/usr/bin/node /srv/one/dist/index.mjs', '/usr/bin/node /srv/two/dist/index.mjs'],
    ['npx -y server-filesystem /a', 'npx -y server-filesystem /b'],
    ['npx -y pkg@prod', 'npx -y pkg@staging'],
    ['npx -y pkg -y', 'npx -y pkg'],
    ['/opt/a/tickets-mcp', '/opt/b/tickets-mcp'],
    ['node a.mjs', 'node b.mjs'],
  ])('is not shared by different servers: %s and %s', (one, other) => {
    expect(nameOf(one)).not.toBe(nameOf(other));
  });

  it.each([
    'node server.mjs',
    './tickets-mcp',
    'node --config=./a.json /srv/x.mjs',
    'npx pkg data/x',
  ])('is not shared by relative paths in different folders: %s', (words) => {
    expect(nameOf(words, '/one')).not.toBe(nameOf(words, '/two'));
  });

  it.each([
    ['npx -y pkg@1.2.3 /a', 'npx pkg /a'],
    ['uvx pkg==1.0', 'uvx pkg@2.0'],
    ['npx -y @scope/pkg@latest', 'npx --yes @scope/pkg@2.0.0'],
    ['/usr/local/bin/npx -y pkg', 'npx.cmd -y pkg'],
    ['node ./server.mjs', 'node /srv/server.mjs'],
  ])('stays when the same server is started differently: %s and %s', (one, other) => {
    expect(nameOf(one)).toBe(nameOf(other));
  });

  it('does not depend on the folder without a relative path', () => {
    for (const words of ['npx -y @scope/pkg', 'docker run -i mcp/tickets', 'tickets-mcp --fast']) {
      expect(nameOf(words, '/one')).toBe(nameOf(words, '/two'));
    }
  });

  it('tells the addresses of one host apart', () => {
    const names = [
      'https://x.example.com/a',
      'https://x.example.com/b',
      'https://x.example.com:1/a',
    ];
    expect(new Set(names.map(nameOfAddress)).size).toBe(3);
    expect(nameOfAddress('https://X.example.com:443/a')).toBe(nameOfAddress(names[0]!));
    expect(nameOfAddress(names[0]!)).toMatch(/^x\.example\.com-[0-9a-f]{8}$/);
  });
});

it('names of earlier versions are known', () => {
  expect(formerNameOf('docker', ['run', '-i', 'mcp/tickets'])).toBe('docker');
  expect(formerNameOf('npx', ['-y', '@scope/server-x@1.0'])).toBe('server-x');
});
