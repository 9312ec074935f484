import { Command, Option } from 'commander';
import { stopSignal } from '@toolkeel/host/signals';
import type { LoginFlags } from './commands/login.js';
import { INTERRUPTED, TERMINATED } from './errors.js';
import { addOperatorCommands, type Lazily } from './operator/program.js';
import { collect, example, portOption, withConfig, withPacks, withVerbose } from './options.js';
import type { RuntimeContext } from './runtime.js';

/** The exit code; default 0. */
type Exit = Promise<number | void>;

/**
 * The commands, their flags and their help. The implementations are loaded on demand, so that servers
 * and `--help` start quickly.
 */
export function createProgram(
  runtime: RuntimeContext,
  version: string,
  end: (code: number) => void,
): Command {
  const run =
    <Args extends unknown[]>(command: (...args: Args) => Exit) =>
    async (...args: Args): Promise<void> =>
      end((await command(...args)) ?? 0);
  // Commander passes the command itself after the arguments and flags.
  const lazily: Lazily = (load) =>
    run(async (...args) => (await load())(...(args.slice(0, -1) as typeof args), runtime));
  const untilStopped = <Given extends unknown[]>(
    load: () => Promise<(...args: [...Given, RuntimeContext, Promise<void>]) => Exit>,
  ) =>
    run(async (...args: Given) => {
      const { stopped, received, release } = stopSignal();
      const command = await load();
      const given = args.slice(0, -1) as Given;
      const code = await command(...given, runtime, stopped).finally(release);
      return code === INTERRUPTED && received() === 'SIGTERM' ? TERMINATED : code;
    });

  const program = new Command('toolkeel')
    .description(
      'Run MCP servers whose tools succeed, or fail with an error that an agent can act on.',
    )
    .version(version, '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print this help')
    .exitOverride()
    .configureOutput({
      writeOut: runtime.stdout.write,
      writeErr: runtime.stderr.write,
    })
    .addHelpText('after', example('toolkeel up --sandbox', 'toolkeel serve stac'));

  withServerFlags(program.command('up'))
    .description('Start an HTTP server with MCP, health and metrics.')
    .argument('[pack...]', 'Packs to serve (default: the configured packs, else all)')
    .option(
      '--port <number>',
      'Listen on this port (default: 7411; 0 selects a free port)',
      portOption,
    )
    .option('--host <name>', 'Listen on this host (default: 127.0.0.1)')
    .addHelpText('after', example('toolkeel up --sandbox --pretty'))
    .action(untilStopped(async () => (await import('./commands/up.js')).up));

  withServerFlags(program.command('serve'))
    .description('Serve MCP on stdin and stdout.')
    .argument('[pack...]', 'Packs to serve (default: the configured packs, else all)')
    .option('--http [host:port]', 'Serve over HTTP instead')
    .addHelpText(
      'after',
      example('TOOLKEEL_STAC_URL=https://stac.example.com toolkeel serve stac --profile readonly'),
    )
    .action(untilStopped(async () => (await import('./commands/serve.js')).serve));

  withLog(withConfig(program.command('guard')))
    .description('Guard another MCP server: retries, deadlines, no duplicate mutations, restarts.')
    .argument('[command...]', 'The command of a server on stdio, after --')
    .option('--url <url>', 'Guard a server on Streamable HTTP')
    .option('--url-env <variable>', 'Read the address of --url from an environment variable')
    .option(
      '--header-env <header=variable>',
      'Send this header to --url with the value of an environment variable; repeatable',
      collect,
    )
    .option('--upstream <name>', 'Guard only this server of the configuration (default: all)')
    .option('--upstreams <file>', "Guard the servers in a client's configuration file (mcpServers)")
    .option('--name <name>', 'Call the server so in the journal, logs and metrics')
    .option(
      '--trust <annotations>',
      'Trust these annotations: none, readOnly or all (default: readOnly)',
    )
    .option('--http [host:port]', 'Serve over HTTP instead of stdin and stdout')
    .option(
      '--tokens',
      "Print what listing the tools costs of a model's context, in o200k tokens, and exit",
    )
    .option('--json', 'Print the result of --tokens as JSON')
    .option('--envelope', 'Wrap every result into the envelope of the contract')
    .option(
      '--chaos <rate>',
      'Inject faults into this share of the attempts of read calls, and compare with and without the guard',
    )
    .option('--chaos-seed <number>', 'Repeat the faults of the run with this seed')
    .option('--chaos-all', 'Inject faults into mutations, too')
    .addHelpText(
      'after',
      example(
        'toolkeel guard -- npx -y @modelcontextprotocol/server-everything',
        'toolkeel guard --url https://mcp.example.com/mcp',
        'toolkeel guard --chaos 20% --pretty -- npx -y @modelcontextprotocol/server-filesystem .',
        'toolkeel guard --tokens',
        'toolkeel guard --http 127.0.0.1:7411 -- npx -y @modelcontextprotocol/server-memory',
        'toolkeel guard --upstreams .mcp.json',
      ),
    )
    .action(untilStopped(async () => (await import('./commands/guard.js')).guard));

  withVerbose(program.command('sandbox'))
    .description('Start local upstreams with the real wire formats and injected faults.')
    .argument('[pack...]', 'Packs whose upstreams to start (default: all)')
    .addHelpText(
      'after',
      '\nPrefix a flag with the name of a pack to apply it to that pack only: --x-port, --stac-fault.\n' +
        example(
          'toolkeel sandbox stac --fault 20%:http-503 --latency p95=200',
          'toolkeel sandbox stac x --seed 7 --x-fault 10%:acted-http-503@create-post',
        ),
    )
    .action(untilStopped(async () => (await import('./commands/sandbox.js')).sandbox));

  withPacks(program.command('manifest'))
    .description('Print the manifest of the tools, compare it with a file, or measure the listing.')
    .argument('[pack...]', 'Packs to describe (default: the configured packs, else all)')
    .option('--profile <name>', 'Include only the tools of this profile')
    .option('--tokens', "Print what listing the tools costs of a model's context, in o200k tokens")
    .option('--json', 'Print the result of --tokens as JSON')
    .option(
      '--check [file]',
      'Compare with a file (default: the manifest published with this version)',
    )
    .addHelpText(
      'after',
      example(
        'toolkeel manifest > tools.json',
        'toolkeel manifest --check tools.json',
        'toolkeel manifest --tokens --profile api',
      ),
    )
    .action(lazily(async () => (await import('./commands/manifest.js')).manifest));

  withConfig(program.command('llm'))
    .description('Ask a language model and stream its answer.')
    .argument('<question>', 'The question')
    .option('--provider <name>', 'Ask only this provider: claude or gemini')
    .option('--model <name>', 'Use this model (default: the configured one)')
    .option('--system <text>', 'Set the system prompt')
    .option(
      '--recovery <how>',
      'After a broken stream: error, restart or continue (default: restart)',
    )
    .option('--json', 'Print each event as a line of JSON')
    .option('--sandbox', 'Use a local stand-in, without credentials')
    .option('--fault <rule>', 'Inject a fault into the sandbox; repeatable', collect)
    .addHelpText(
      'after',
      example(
        'toolkeel llm "Why is the sky blue?" --sandbox',
        'toolkeel llm "Why is the sky blue?" --sandbox --fault "llm-stall-mid-stream;times=1"',
      ),
    )
    .action(untilStopped(async () => (await import('./commands/llm.js')).llm));

  withPacks(program.command('doctor'))
    .description(
      'Check Node.js, configuration, credentials, journal, upstreams and guarded servers.',
    )
    .option('--json', 'Print JSON')
    .option(
      '--from <client>',
      'Start the servers of a client and list their tools: claude-desktop, claude-code, cursor, vscode or a FILE',
    )
    .addHelpText('after', example('toolkeel doctor --json', 'toolkeel doctor --from cursor'))
    .action(lazily(async () => (await import('./commands/doctor.js')).doctor));

  withVerbose(program.command('init'))
    .description('Create toolkeel.config.json and print how to connect a client.')
    .option('--profile <name>', 'Use this profile: readonly, api or workflow (default: readonly)')
    .option('--pack <name>', 'Add a pack; repeatable', collect)
    .option('--upstream <pack=url>', 'Set the upstream of a pack; repeatable', collect)
    .option('--config <file>', 'Write to this file (default: toolkeel.config.json)')
    .option(
      '--from <client>',
      'Guard the servers of a client instead: claude-desktop, claude-code, cursor, vscode or a FILE',
    )
    .option('--undo', 'Restore the file of the client as it was before --from')
    .option('--yes', 'Do not prompt')
    .option('--force', 'Replace an existing file')
    .addHelpText(
      'after',
      example(
        'toolkeel init',
        'toolkeel init --yes --upstream stac=https://stac.example.com/v1',
        'toolkeel init --from claude-desktop',
        'toolkeel init --from claude-desktop --undo',
      ),
    )
    .action(lazily(async () => (await import('./commands/init.js')).init));

  withConfig(program.command('login'))
    .description('Authorize a pack to act for you in a browser.')
    .argument('<pack>', 'x')
    .option('--client-id <id>', 'Use this client id (default: as configured)')
    .option(
      '--scopes <names>',
      'Request these scopes, separated by commas (default: all that tools use)',
    )
    .option('--port <number>', 'Listen for the redirect on this port (default: 7412)', portOption)
    .option('--timeout <seconds>', 'Wait this long (default: 300)')
    .addHelpText('after', example('toolkeel login x --client-id YOUR_APP'))
    .action(
      run(async (pack: string, flags: LoginFlags) => {
        const { login } = await import('./commands/login.js');
        return login(pack, flags, runtime, () => stopSignal().stopped);
      }),
    );

  addOperatorCommands(program, lazily);
  return program;
}

/** Loaded on demand: the flags are declared by the sandbox package. */
export async function addSandboxFlags(program: Command): Promise<void> {
  const { packFlags } = await import('./sandboxes.js');
  const { sandboxFlags } = await import('./sandboxes.js');
  const command = program.commands.find((candidate) => candidate.name() === 'sandbox');
  for (const { flag, description, isPackSpecific } of sandboxFlags(await packFlags())) {
    // Three dots mark a repeatable flag. To the parser they would mean a variadic one.
    const option = new Option(flag.replace('...', ''), description).hideHelp(isPackSpecific);
    command?.addOption(flag.includes('...') ? option.argParser(collect) : option);
  }
}

function withServerFlags(command: Command): Command {
  return withLog(withPacks(command))
    .option('--profile <name>', 'Use this profile: readonly, api or workflow (default: readonly)')
    .option('--sandbox', 'Use local upstreams only, without credentials')
    .option(
      '--without-approval',
      'Accept a --profile or TOOLKEEL_PROFILE that requires fewer approvals than the configuration',
    );
}

function withLog(command: Command): Command {
  return command
    .option(
      '--log-level <level>',
      'Set the log level: debug, info, warn, error or silent (default: info)',
    )
    .option('--pretty', 'Format the log for humans instead of as JSON');
}
