import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { useSandbox } from './support/sandbox.js';

const sandboxWorld = useSandbox();
const run = promisify(execFile);
const program = fileURLToPath(new URL('../dist/auth/renew.fixture.js', import.meta.url));

describe('processes that share a login', () => {
  it('renew it once, though a refresh token is good for one use', async () => {
    const { sandbox } = await sandboxWorld({ latency: { fixedMs: 20 } });
    const folder = await mkdtemp(join(tmpdir(), 'toolkeel-shared-'));
    try {
      const tokenFile = join(folder, 'x.json');
      const { accessToken, refreshToken } = sandbox.issueTokens();
      const login = {
        version: 1,
        login_id: 'shared',
        client_id: sandbox.credentials.clientId,
        access_token: accessToken,
        refresh_token: refreshToken,
        obtained_at: 0,
        expires_at: 0,
        scopes: [],
      };
      await writeFile(tokenFile, JSON.stringify(login), { mode: 0o600 });
      const processes = Array.from({ length: 4 }, () =>
        run(process.execPath, [program, sandbox.url, tokenFile]),
      );
      const ended = await Promise.all(processes);
      expect(ended.map(({ stdout }) => stdout.trim())).toEqual(Array(4).fill('ok ok ok'));
      expect(sandbox.log({ route: 'token' })).toHaveLength(1);
      expect(await readdir(folder)).toEqual(['x.json']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 30_000);
});
