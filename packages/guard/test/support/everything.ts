import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const require = createRequire(import.meta.url);

/** The program of a server of other authors, from npm. */
const everything = join(
  dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
);

export const everythingCommand: readonly [string, ...string[]] = [
  process.execPath,
  everything,
  'stdio',
];

const running: ChildProcess[] = [];

export const endEverything = (): void => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
};

/** Starts it on HTTP; it cannot choose a port itself. */
export const everythingUrl = async (): Promise<string> => {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const args = [everything, 'streamableHttp'];
  running.push(spawn(process.execPath, args, { env, stdio: 'ignore' }));
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let attempt = 0; attempt < 300; attempt++) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return url;
    await sleep(100);
  }
  throw new Error('server-everything did not start');
};
