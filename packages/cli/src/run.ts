import { CommanderError } from 'commander';
import { describeFailure } from './errors.js';
import { addSandboxFlags, createProgram } from './program.js';
import { ownVersion, type RuntimeContext } from './runtime.js';

/** Runs a command and returns the exit code: 0 success, 1 failure, 2 invalid usage. */
export async function run(args: readonly string[], runtime: RuntimeContext): Promise<number> {
  const { env, stderr } = runtime;
  let code = 0;
  const program = createProgram(runtime, ownVersion(), (ended) => {
    code = ended;
  });
  try {
    if (args.includes('sandbox')) {
      await addSandboxFlags(program);
    }
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (thrown) {
    // The parser has already printed the error, the help or the version.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    const isVerbose = args.includes('--verbose') || env['TOOLKEEL_LOG_LEVEL'] === 'debug';
    const { exitCode, message } = describeFailure(thrown, isVerbose);
    stderr.write(`toolkeel: ${message}\n`);
    return exitCode;
  }
}
