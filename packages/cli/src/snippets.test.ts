import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellWord, snippetsFor } from './snippets.js';

const of = (reach: Parameters<typeof snippetsFor>[0]) =>
  Object.fromEntries(snippetsFor(reach).map(({ client, text }) => [client, text]));

describe('snippetsFor', () => {
  it('configures clients that start a process', () => {
    const launch = { command: 'node', args: ['/a b/bin.js', 'serve'] };
    const texts = of(launch);
    expect(texts['Claude Code']).toBe("claude mcp add toolkeel -- node '/a b/bin.js' serve");
    for (const client of ['Claude Desktop', 'Cursor']) {
      expect(JSON.parse(texts[client] ?? '')).toEqual({ mcpServers: { toolkeel: launch } });
    }
    expect(JSON.parse(texts['VS Code'] ?? '')).toEqual({
      servers: { toolkeel: { type: 'stdio', ...launch } },
    });
  });

  it('configures clients that connect to an address', () => {
    const url = 'http://127.0.0.1:7411/mcp';
    const texts = of({ url });
    expect(texts['Claude Code']).toBe(`claude mcp add --transport http toolkeel ${url}`);
    expect(JSON.parse(texts['Cursor'] ?? '')).toEqual({ mcpServers: { toolkeel: { url } } });
    expect(JSON.parse(texts['VS Code'] ?? '')).toEqual({
      servers: { toolkeel: { type: 'http', url } },
    });
    // Its file does not support addresses.
    expect(texts['Claude Desktop']).toBeUndefined();
  });

  it('references the token and does not contain it', () => {
    const texts = of({ url: 'http://h/mcp', authorization: 'Bearer $TOOLKEEL_HTTP_TOKEN' });
    expect(texts['Claude Code']).toContain('--header "Authorization: Bearer $TOOLKEEL_HTTP_TOKEN"');
    expect(JSON.parse(texts['VS Code'] ?? '')).toMatchObject({
      servers: { toolkeel: { headers: { Authorization: 'Bearer YOUR_TOKEN' } } },
    });
  });
});

it.skipIf(process.platform === 'win32')('shellWord round-trips through a shell', () => {
  const word = fc.string({ unit: 'grapheme-ascii' }).filter((text) => !text.includes('\0'));
  const words = fc.sample(word, { numRuns: 200, seed: 1 });
  const script = `printf '%s\\n' ${words.map(shellWord).join(' ')}`;
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(`${words.join('\n')}\n`);
});
