import type { ProviderHealth } from '../core/provider.js';
import { isObject, type Environment } from '@toolkeel/pack-kit/base';
import { parseJson } from '../json.js';
import { Child } from './children.js';
import { commandOf, findCli } from './environment.js';
import { cannotStart } from './faults.js';

const MAX_OUTPUT_CHARS = 64 * 1024;

/** Whether the CLI is installed and logged in. It asks the CLI itself, which sends no request for this. */
export async function checkLogin(
  cliPath: string | undefined,
  env: Environment,
  childEnv: Environment,
  signal: AbortSignal,
): Promise<ProviderHealth> {
  const cli = findCli(cliPath, env);
  const version = (await run(cli, ['--version'], childEnv, signal)).trim().split(' ')[0] ?? '';
  const status = parseJson(await run(cli, ['auth', 'status'], childEnv, signal));
  if (isObject(status) && status['loggedIn'] === true) {
    return { state: 'healthy', detail: `Claude CLI ${version}, logged in` };
  }
  if (!isObject(status) || status['loggedIn'] !== false) {
    return {
      state: 'unknown',
      detail: `Claude CLI ${version} does not tell whether it is logged in`,
    };
  }
  return {
    state: 'down',
    detail: `Claude CLI ${version} is not logged in`,
    advice: 'Log in with the Claude CLI: run `claude`, then /login.',
  };
}

async function run(
  cli: string,
  args: readonly string[],
  env: Environment,
  signal: AbortSignal,
): Promise<string> {
  const [command, ...script] = commandOf(cli);
  const child = new Child({ command, args: [...script, ...args], env });
  const onAbort = (): void => void child.end('now');
  signal.addEventListener('abort', onAbort, { once: true });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    if (output.length < MAX_OUTPUT_CHARS) output += chunk.toString('utf8');
  });
  child.stdin.end();
  // The output may end after the process.
  await new Promise((resolve) => child.process.once('close', resolve));
  signal.removeEventListener('abort', onAbort);
  if (child.failure) throw cannotStart(cli, child.failure);
  return output;
}
