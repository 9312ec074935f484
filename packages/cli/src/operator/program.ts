import type { Command } from 'commander';
import type { DecideFlags } from '../commands/approvals.js';
import { collect, example, withConfig, withPacks } from '../options.js';
import type { RuntimeContext } from '../runtime.js';

/** The action of a command that is loaded when it runs. */
export type Lazily = <Given extends unknown[]>(
  load: () => Promise<(...args: [...Given, RuntimeContext]) => Promise<number | void>>,
) => (...args: Given) => Promise<void>;

/** Commands for the operator: operations, approvals, audit, pinned tools, console. */
export function addOperatorCommands(program: Command, lazily: Lazily): void {
  addOperations(program.command('operations'), lazily);
  addApprovals(program.command('approvals'), lazily);
  addAudit(program.command('audit'), lazily);
  addPins(program.command('pins'), lazily);
  withOperatorFlags(program.command('console'))
    .description('Print a link to the console of a running server, which signs in once.')
    .option(
      '--url <url>',
      'Use the server at this address (default: the newest that shares the journal)',
    )
    .option('--name <name>', 'Name for the audit (default: the user that runs the server)')
    .addHelpText(
      'after',
      example('toolkeel console', 'toolkeel console --name ana --url https://toolkeel.example.com'),
    )
    .action(lazily(async () => (await import('../commands/console.js')).consoleLink));
}

function addOperations(operations: Command, lazily: Lazily): void {
  const load = () => import('../commands/operations.js');
  operations
    .description('List, show and resolve operations.')
    .addHelpText('after', example('toolkeel operations list --state unknown'));
  withFilters(withOperatorFlags(operations.command('list')))
    .description('List operations, newest first.')
    .option(
      '--state <names>',
      'Include only these states, separated by commas: unknown,awaiting_approval',
    )
    .addHelpText('after', example('toolkeel operations list --state unknown --since 7d --json'))
    .action(lazily(async () => (await load()).listOperations));
  withOperatorFlags(operations.command('show'))
    .description('Show an operation with its arguments, steps and result.')
    .argument('<id>', 'Operation id (op_…); a unique prefix is enough')
    .addHelpText('after', example('toolkeel operations show op_4a1f'))
    .action(lazily(async () => (await load()).showOperation));
  withOperatorFlags(operations.command('resolve'))
    .description('Record the outcome of an unknown operation. Check the upstream first.')
    .argument('<id>', 'Id of an operation that is unknown or stopped between two steps')
    .requiredOption('--outcome <outcome>', 'The outcome: executed or not_executed')
    .option(
      '--data <json>',
      'Result to return to repeated calls, with the id of the created resource; required for an executed step',
    )
    .option('--by <name>', 'Name for the audit (default: your user)')
    .option('--reason <text>', 'Reason for the audit')
    .addHelpText(
      'after',
      example(
        'toolkeel operations resolve op_4a1f --outcome executed --data \'{"id":"e1"}\' --reason "seen on the page"',
      ),
    )
    .action(lazily(async () => (await load()).resolveOperation));
}

function addApprovals(approvals: Command, lazily: Lazily): void {
  const load = () => import('../commands/approvals.js');
  approvals
    .description('List, show and decide pending approvals.')
    .addHelpText('after', example('toolkeel approvals list', 'toolkeel approvals approve op_4a1f'));
  withFilters(withOperatorFlags(approvals.command('list')))
    .description('List pending approvals.')
    .addHelpText('after', example('toolkeel approvals list --json'))
    .action(lazily(async () => (await load()).listApprovals));
  withOperatorFlags(approvals.command('show'))
    .description('Show an operation, the rule that requires approval, and its hash.')
    .argument('<id>', 'Operation id')
    .addHelpText('after', example('toolkeel approvals show op_4a1f'))
    .action(lazily(async () => (await load()).showApproval));
  for (const decision of ['approve', 'reject'] as const) {
    const command = withDecisionFlags(approvals.command(decision));
    if (decision === 'approve') {
      command.option('--wait <seconds>', 'Wait this long for the execution (default: 15)');
    }
    command
      .description(
        decision === 'approve'
          ? 'Show an operation, approve it, and report its execution by a running server.'
          : 'Reject an operation. The agent receives the reason.',
      )
      .argument('<id>', 'Operation id')
      .option('--reason <text>', 'Reason for the audit and the agent')
      .addHelpText('after', example(`toolkeel approvals ${decision} op_4a1f --hash 9c2e…`))

      .action(
        lazily(async () => {
          const { decide } = await load();
          return (id: string, flags: DecideFlags, runtime: RuntimeContext) =>
            decide(decision, id, flags, runtime);
        }),
      );
  }
  withDecisionFlags(approvals.command('edit'))
    .description('Change the arguments before approval. The edited operation has a new hash.')
    .argument('<id>', 'Operation id')
    .option(
      '--set <name=value>',
      'Set an argument, to a string or JSON as its schema requires; repeatable',
      collect,
    )
    .option('--remove <name>', 'Remove an argument; repeatable', collect)
    .addHelpText('after', example('toolkeel approvals edit op_4a1f --set amount=20 --hash 9c2e…'))
    .action(lazily(async () => (await load()).editApproval));
}

function addAudit(audit: Command, lazily: Lazily): void {
  const load = () => import('../commands/audit.js');
  audit
    .description('Verify and export the audit log of all decisions and sends.')
    .addHelpText('after', example('toolkeel audit verify'));
  withJson(withConfig(audit.command('head')))
    .description(
      'Print the head of the hash chain. Store it where writers of the journal cannot change it.',
    )
    .addHelpText('after', example('toolkeel audit head'))
    .action(lazily(async () => (await load()).auditHead));
  withJson(withConfig(audit.command('verify')))
    .description('Verify the hash chain. Exits with 1 if rows were altered, removed or truncated.')
    .option('--expect <seq:hash>', 'Compare with a head that was stored elsewhere')
    .addHelpText('after', example('toolkeel audit verify --expect 1042:5e8f…'))
    .action(lazily(async () => (await load()).verifyAudit));
  withConfig(audit.command('export'))
    .description('Print the rows of a time range.')
    .option('--format <name>', 'Output format: jsonl or csv (default: jsonl)')
    .option('--since <time>', 'Start time or age: 2026-05-01, 7d')
    .option('--until <time>', 'End time or age (exclusive)')
    .addHelpText('after', example('toolkeel audit export --format csv --since 30d > audit.csv'))
    .action(lazily(async () => (await load()).exportAudit));
}

function addPins(pins: Command, lazily: Lazily): void {
  const load = () => import('../commands/pins.js');
  pins
    .description('List, compare and accept changes of the tools of guarded servers.')
    .addHelpText('after', example('toolkeel pins diff github', 'toolkeel pins accept github'));
  withJson(withConfig(pins.command('list')))
    .description('List the tools that a server changed, added or removed since they were pinned.')
    .option('--all', 'Include tools that did not change')
    .addHelpText('after', example('toolkeel pins list --all'))
    .action(lazily(async () => (await load()).listPins));
  withConfig(pins.command('diff'))
    .description('Show how tools differ from what was pinned. Exits with 1 if some do.')
    .argument('[upstream]', 'Name of the guarded server (default: all)')
    .argument('[tool...]', 'Only these tools')
    .addHelpText('after', example('toolkeel pins diff github create_issue'))
    .action(lazily(async () => (await load()).diffPins));
  withConfig(pins.command('accept'))
    .description('Accept tools as the server describes them now. Running guards notice it.')
    .argument('<upstream>', 'Name of the guarded server')
    .argument('[tool...]', 'Only these tools (default: all that differ)')
    .option('--yes', 'Do not prompt')
    .addHelpText('after', example('toolkeel pins accept github create_issue'))
    .action(lazily(async () => (await load()).acceptChanges));
}

function withOperatorFlags(command: Command): Command {
  return withJson(withPacks(command));
}

function withJson(command: Command): Command {
  return command.option('--json', 'Print JSON');
}

function withFilters(command: Command): Command {
  return command
    .option('--tool <name>', 'Include only this tool')
    .option('--account <name>', 'Include only this account')
    .option('--since <time>', 'Start time or age: 2026-05-01, 2h, 7d')
    .option('--until <time>', 'End time or age (exclusive)')
    .option('--limit <number>', 'Maximum number of results (default: 100)')
    .option('--before <id>', 'Continue after this operation, the last of the previous page');
}

function withDecisionFlags(command: Command): Command {
  return withOperatorFlags(command)
    .option(
      '--hash <hash>',
      'Hash of the reviewed operation; without it the command shows the operation and prompts',
    )
    .option('--by <name>', 'Name for the audit (default: your user)');
}
