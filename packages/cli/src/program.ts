import { Command, InvalidArgumentError, Option } from 'commander';
import { parsePort } from './address.js';
import type { DoctorFlags } from './commands/doctor.js';
import type { LoginFlags } from './commands/login.js';
import type { ManifestFlags } from './commands/manifest.js';
import type { ServeFlags } from './commands/serve.js';
import type { UpFlags } from './commands/up.js';
import type { InitFlags } from './commands/init.js';
import type { Settings } from './packs.js';
import { addOperatorCommands } from './operator/program.js';
import { firstSignal, type RuntimeContext } from './runtime.js';

/** What a command gives back: its exit code, where that is not 0. */
type Ended = Promise<number | void>;

/**
 * The commands, their flags and their help. What they do is loaded when one of them is called, so that
 * a server starts quickly and `--help` at once.
 */
export function createProgram(
  runtime: RuntimeContext,
  version: string,
  end: (code: number) => void,
): Command {
  const run =
    <Args extends unknown[]>(command: (...args: Args) => Ended) =>
    async (...args: Args): Promise<void> =>
      end((await command(...args)) ?? 0);

  const program = new Command('toolkeel')
    .description('Tools for agents that succeed, or fail in a way that can be acted on.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this')
    .exitOverride()
    .configureOutput({
      writeOut: runtime.stdout.write,
      writeErr: runtime.stderr.write,
    })
    .addHelpText('after', example('toolkeel up --sandbox', 'toolkeel serve stac'));

  withServerFlags(program.command('up'))
    .description('Serves MCP over HTTP, with health and metrics beside it.')
    .argument('[pack...]', 'which packs (default: those in the configuration, else all)')
    .option('--port <number>', 'where to listen (default: 7411; 0 takes one that is free)', port)
    .option('--host <name>', 'where to listen (default: 127.0.0.1)')
    .addHelpText('after', example('toolkeel up --sandbox --pretty'))
    .action(
      run(async (packs: string[], flags: UpFlags) => {
        const stopped = firstSignal();
        const { up } = await import('./commands/up.js');
        return up(packs, flags, runtime, stopped);
      }),
    );

  withServerFlags(program.command('serve'))
    .description('Serves MCP on stdin and stdout, as clients start it.')
    .argument('[pack...]', 'which packs (default: those in the configuration, else all)')
    .option('--http [host:port]', 'serve over HTTP instead')
    .addHelpText(
      'after',
      example('TOOLKEEL_STAC_URL=https://stac.example.com toolkeel serve stac --profile readonly'),
    )
    .action(
      run(async (packs: string[], flags: ServeFlags) => {
        const stopped = firstSignal();
        const { serve } = await import('./commands/serve.js');
        return serve(packs, flags, runtime, stopped);
      }),
    );

  withVerbose(program.command('sandbox'))
    .description('Runs local upstreams that speak the real formats and fail on command.')
    .argument('[pack...]', 'of which packs (default: all)')
    .addHelpText(
      'after',
      '\nWith the name of a pack before it a flag is for that one alone: --x-port, --stac-fault.\n' +
        example(
          'toolkeel sandbox stac --fault 20%:http-503 --latency p95=200',
          'toolkeel sandbox stac x --seed 7 --x-fault 10%:acted-http-503@create-post',
        ),
    )
    .action(
      run(async (packs: string[], flags: Settings) => {
        const stopped = firstSignal();
        const { sandbox } = await import('./commands/sandbox.js');
        return sandbox(packs, flags, runtime, stopped);
      }),
    );

  withVerbose(program.command('manifest'))
    .description('Prints what every tool is and may answer, or compares it with a file.')
    .option('--profile <name>', 'only the tools of this profile')
    .option('--check [file]', 'compare; without a file, with what this version was published with')
    .addHelpText(
      'after',
      example('toolkeel manifest > tools.json', 'toolkeel manifest --check tools.json'),
    )
    .action(
      run(async (flags: ManifestFlags) => {
        const { manifest } = await import('./commands/manifest.js');
        return manifest(flags, runtime);
      }),
    );

  withVerbose(program.command('doctor'))
    .description('Looks at Node.js, configuration, credentials, store and upstreams.')
    .option('--config <file>', 'the configuration (default: toolkeel.config.json, if it is there)')
    .option('--json', 'for programs')
    .addHelpText('after', example('toolkeel doctor --json'))
    .action(
      run(async (flags: DoctorFlags) => {
        const { doctor } = await import('./commands/doctor.js');
        return doctor(flags, runtime);
      }),
    );

  withVerbose(program.command('init'))
    .description(
      'Asks what is needed, writes toolkeel.config.json and tells how to connect a client.',
    )
    .option('--profile <name>', 'readonly, api or workflow (default: readonly)')
    .option('--pack <name>', 'a pack; can be given again', collect)
    .option('--upstream <pack=url>', 'where its upstream is; can be given again', collect)
    .option('--config <file>', 'where to write (default: toolkeel.config.json)')
    .option('--yes', 'do not ask')
    .option('--force', 'replace a file that is there')
    .addHelpText(
      'after',
      example('toolkeel init', 'toolkeel init --yes --upstream stac=https://stac.example.com/v1'),
    )
    .action(
      run(async (flags: InitFlags) => {
        const { init } = await import('./commands/init.js');
        return init(flags, runtime);
      }),
    );

  withVerbose(program.command('login'))
    .description('Lets a pack act for you: prints an address to open, and waits for your consent.')
    .argument('<pack>', 'x')
    .option('--client-id <id>', 'of your app (default: as configured)')
    .option(
      '--scopes <names>',
      'what to ask for, with commas between (default: all that tools use)',
    )
    .option('--port <number>', 'where the browser comes back to (default: 7412)', port)
    .option('--timeout <seconds>', 'how long to wait (default: 300)')
    .option('--config <file>', 'the configuration (default: toolkeel.config.json, if it is there)')
    .addHelpText('after', example('toolkeel login x --client-id YOUR_APP'))
    .action(
      run(async (pack: string, flags: LoginFlags) => {
        const { login } = await import('./commands/login.js');
        return login(pack, flags, runtime, firstSignal);
      }),
    );

  addOperatorCommands(program, { run, runtime, example, collect });
  return program;
}

/** The flags of the sandbox are those of its upstreams, which take a moment to load. */
export async function addSandboxFlags(program: Command): Promise<void> {
  const { packFlags } = await import('./sandboxes.js');
  const { sandboxFlags } = await import('./sandboxes.js');
  const command = program.commands.find((one) => one.name() === 'sandbox');
  for (const { flag, description, isOfOne } of sandboxFlags(await packFlags())) {
    // Three dots say that it can be given again. To the parser they would mean: all that follows.
    const option = new Option(flag.replace('...', ''), description).hideHelp(isOfOne);
    command?.addOption(flag.includes('...') ? option.argParser(collect) : option);
  }
}

function withServerFlags(command: Command): Command {
  return withVerbose(command)
    .option('--profile <name>', 'readonly, api or workflow (default: readonly)')
    .option('--config <file>', 'the configuration (default: toolkeel.config.json, if it is there)')
    .option('--sandbox', 'use local upstreams only, and no credential: nothing acts for real')
    .option(
      '--without-approval',
      'accept a --profile or TOOLKEEL_PROFILE that asks for fewer approvals than the configuration',
    )
    .option('--log-level <level>', 'debug, info, warn, error or silent (default: info)')
    .option('--pretty', 'write the log for people instead of as JSON');
}

function withVerbose(command: Command): Command {
  return command.option('--verbose', 'say all there is to say');
}

function example(...commands: readonly string[]): string {
  const title = commands.length === 1 ? 'Example' : 'Examples';
  return `\n${title}:\n${commands.map((command) => `  $ ${command}\n`).join('')}`;
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function port(text: string): number {
  try {
    return parsePort(text);
  } catch (cause) {
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : '');
  }
}
