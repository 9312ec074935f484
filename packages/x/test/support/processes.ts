import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { XSandbox } from '@toolkeel/sandbox';
import { useClosing } from './closing.js';
import { connect, type Connected } from './connect.js';
import { loginTo } from './governed.js';
import type { Config } from './rig.js';

const program = fileURLToPath(new URL('server-process.mjs', import.meta.url));

export interface Mortal extends Connected {
  /** SIGKILL: it cannot do anything about it. */
  kill(): Promise<void>;
}

/** Servers in processes of their own; none outlives its suite. */
export function useProcesses() {
  const onClose = useClosing();
  const end = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  /** `aheadMs`: by how much its clock is ahead of ours. */
  return async (x: XSandbox, folder: string, aheadMs = 0, more: Config = {}): Promise<Mortal> => {
    const { config, env: secrets } = loginTo(x, more);
    const child = spawn(process.execPath, [program], {
      env: { ...process.env, X_SERVER: JSON.stringify({ folder, config, secrets, aheadMs }) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onClose(() => end(child));
    const [first] = (await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => {
        throw new Error('the server did not start');
      }),
    ])) as [Buffer];
    const client = await connect(first.toString().trim());
    const kill = async (): Promise<void> => {
      await end(child);
      // The client would go on waiting for an answer that nobody can give.
      await client.close();
    };
    return { ...client, kill };
  };
}
