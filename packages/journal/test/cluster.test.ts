import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../dist/fixtures/cluster-child.fixture.js', import.meta.url));

test(
  'a private server ends and deletes its data when its process is killed',
  { timeout: 90_000 },
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'toolkeel-orphan-'));
    const child = spawn(process.execPath, [script, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [url] = (await once(child.stdout, 'data')) as [Buffer];
    const connect = async () => {
      const client = new pg.Client({ connectionString: String(url) });
      client.on('error', () => {});
      await client.connect();
      return client;
    };
    await (await connect()).end();

    child.kill('SIGKILL');
    const start = performance.now();
    while (existsSync(dir) && performance.now() - start < 20_000) await sleep(50);
    expect(existsSync(dir)).toBe(false);
    await expect(connect()).rejects.toThrow();
  },
);
