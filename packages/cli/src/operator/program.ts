import type { Command } from 'commander';
import type { DecideFlags, EditFlags } from '../commands/approvals.js';
import type { ExportFlags, VerifyFlags } from '../commands/audit.js';
import type { ListFlags, ResolveFlags } from '../commands/operations.js';
import { collect, example, withConfig, withPacks } from '../options.js';
import type { RuntimeContext } from '../runtime.js';
import type { OperatorFlags } from './journal.js';

type Run = <Args extends unknown[]>(
  command: (...args: Args) => Promise<number>,
) => (...args: Args) => Promise<void>;

/** Commands for the operator: operations, approvals, audit. */
export function addOperatorCommands(program: Command, run: Run, runtime: RuntimeContext): void {
  addOperations(program.command('operations'), run, runtime);
  addApprovals(program.command('approvals'), run, runtime);
  addAudit(program.command('audit'), run, runtime);
}

function addOperations(operations: Command, run: Run, runtime: RuntimeContext): void {
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
    .action(run(async (flags: ListFlags) => (await load()).listOperations(flags, runtime)));
  withOperatorFlags(operations.command('show'))
    .description('Show an operation with its arguments, steps and result.')
    .argument('<id>', 'Operation id (op_…); a unique prefix is enough')
    .addHelpText('after', example('toolkeel operations show op_4a1f'))
    .action(
      run(async (id: string, flags: OperatorFlags) =>
        (await load()).showOperation(id, flags, runtime),
      ),
    );
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
    .action(
      run(async (id: string, flags: ResolveFlags) =>
        (await load()).resolveOperation(id, flags, runtime),
      ),
    );
}

function addApprovals(approvals: Command, run: Run, runtime: RuntimeContext): void {
  const load = () => import('../commands/approvals.js');
  approvals
    .description('List, show and decide pending approvals.')
    .addHelpText('after', example('toolkeel approvals list', 'toolkeel approvals approve op_4a1f'));
  withFilters(withOperatorFlags(approvals.command('list')))
    .description('List pending approvals.')
    .addHelpText('after', example('toolkeel approvals list --json'))
    .action(run(async (flags: ListFlags) => (await load()).listApprovals(flags, runtime)));
  withOperatorFlags(approvals.command('show'))
    .description('Show an operation, the rule that requires approval, and its hash.')
    .argument('<id>', 'Operation id')
    .addHelpText('after', example('toolkeel approvals show op_4a1f'))
    .action(
      run(async (id: string, flags: OperatorFlags) =>
        (await load()).showApproval(id, flags, runtime),
      ),
    );
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
        run(async (id: string, flags: DecideFlags) =>
          (await load()).decide(decision, id, flags, runtime),
        ),
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
    .action(
      run(async (id: string, flags: EditFlags) => (await load()).editApproval(id, flags, runtime)),
    );
}

function addAudit(audit: Command, run: Run, runtime: RuntimeContext): void {
  const load = () => import('../commands/audit.js');
  audit
    .description('Verify and export the audit log of all decisions and sends.')
    .addHelpText('after', example('toolkeel audit verify'));
  withJson(withConfig(audit.command('head')))
    .description(
      'Print the head of the hash chain. Store it where writers of the journal cannot change it.',
    )
    .addHelpText('after', example('toolkeel audit head'))
    .action(run(async (flags: OperatorFlags) => (await load()).auditHead(flags, runtime)));
  withJson(withConfig(audit.command('verify')))
    .description('Verify the hash chain. Exits with 1 if rows were altered, removed or truncated.')
    .option('--expect <seq:hash>', 'Compare with a head that was stored elsewhere')
    .addHelpText('after', example('toolkeel audit verify --expect 1042:5e8f…'))
    .action(run(async (flags: VerifyFlags) => (await load()).verifyAudit(flags, runtime)));
  withConfig(audit.command('export'))
    .description('Print the rows of a time range.')
    .option('--format <name>', 'Output format: jsonl or csv (default: jsonl)')
    .option('--since <time>', 'Start time or age: 2026-05-01, 7d')
    .option('--until <time>', 'End time or age (exclusive)')
    .addHelpText('after', example('toolkeel audit export --format csv --since 30d > audit.csv'))
    .action(run(async (flags: ExportFlags) => (await load()).exportAudit(flags, runtime)));
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
