import type { Command } from 'commander';
import type { DecideFlags, EditFlags } from '../commands/approvals.js';
import type { ExportFlags, VerifyFlags } from '../commands/audit.js';
import type { ListFlags, ResolveFlags } from '../commands/operations.js';
import type { OperatorFlags } from './journal.js';
import type { RuntimeContext } from '../runtime.js';

type Run = <Args extends unknown[]>(
  command: (...args: Args) => Promise<number>,
) => (...args: Args) => Promise<void>;

interface Tools {
  readonly run: Run;
  readonly runtime: RuntimeContext;
  readonly example: (...commands: readonly string[]) => string;
  readonly collect: (value: string, before?: readonly string[]) => readonly string[];
}

/** Commands for people who look after what was done and what waits for them. */
export function addOperatorCommands(program: Command, tools: Tools): void {
  addOperations(program.command('operations'), tools);
  addApprovals(program.command('approvals'), tools);
  addAudit(program.command('audit'), tools);
}

function addOperations(operations: Command, { run, runtime, example }: Tools): void {
  const load = () => import('../commands/operations.js');
  operations
    .description('Shows what was done, and settles what nobody knows the end of.')
    .addHelpText('after', example('toolkeel operations list --state unknown'));
  withFilters(withDeskFlags(operations.command('list')))
    .description('Lists operations, the newest first.')
    .option('--state <names>', 'only these, with commas between: unknown,awaiting_approval')
    .addHelpText('after', example('toolkeel operations list --state unknown --since 7d --json'))
    .action(run(async (flags: ListFlags) => (await load()).listOperations(flags, runtime)));
  withDeskFlags(operations.command('show'))
    .description('Shows one operation: its arguments, its steps, its answer.')
    .argument('<id>', 'op_…, as an answer or the list names it; its beginning is enough')
    .addHelpText('after', example('toolkeel operations show op_4a1f'))
    .action(
      run(async (id: string, flags: OperatorFlags) =>
        (await load()).showOperation(id, flags, runtime),
      ),
    );
  withDeskFlags(operations.command('resolve'))
    .description('Says how an operation ended that nobody knows the end of. Look first.')
    .argument('<id>', 'an operation that is unknown, or stopped half way')
    .requiredOption('--outcome <outcome>', 'executed or not_executed')
    .option(
      '--data <json>',
      'its result, with the id of what was made: repeats get it, and nothing else is taken for it; of a step that was carried out it is needed',
    )
    .option('--by <name>', 'who says so (default: your user)')
    .option('--reason <text>', 'why, for the audit')
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

function addApprovals(approvals: Command, tools: Tools): void {
  const { run, runtime, example, collect } = tools;
  const load = () => import('../commands/approvals.js');
  approvals
    .description('Shows what waits for a person, and decides it.')
    .addHelpText('after', example('toolkeel approvals list', 'toolkeel approvals approve op_4a1f'));
  withFilters(withDeskFlags(approvals.command('list')))
    .description('Lists what waits for a person.')
    .addHelpText('after', example('toolkeel approvals list --json'))
    .action(run(async (flags: ListFlags) => (await load()).listApprovals(flags, runtime)));
  withDeskFlags(approvals.command('show'))
    .description('Shows what would be done, who asks for it, and the hash of it.')
    .argument('<id>', 'the operation')
    .addHelpText('after', example('toolkeel approvals show op_4a1f'))
    .action(
      run(async (id: string, flags: OperatorFlags) =>
        (await load()).showApproval(id, flags, runtime),
      ),
    );
  for (const decision of ['approve', 'reject'] as const) {
    const command = withDecisionFlags(approvals.command(decision));
    if (decision === 'approve') {
      command.option('--wait <seconds>', 'how long to wait for the execution (default: 15)');
    }
    command
      .description(
        decision === 'approve'
          ? 'Show an operation, approve exactly that, and report its execution by a running server.'
          : 'Reject an operation. The agent gets the reason.',
      )
      .argument('<id>', 'the operation')
      .option('--reason <text>', 'why, for the audit and the agent')
      .addHelpText('after', example(`toolkeel approvals ${decision} op_4a1f --hash 9c2e…`))
      .action(
        run(async (id: string, flags: DecideFlags) =>
          (await load()).decide(decision, id, flags, runtime),
        ),
      );
  }
  withDecisionFlags(approvals.command('edit'))
    .description('Changes arguments before they are approved. They get a hash of their own.')
    .argument('<id>', 'the operation')
    .option(
      '--set <name=value>',
      'an argument and its value, a text or JSON as the tool takes it; can be given again',
      collect,
    )
    .option('--remove <name>', 'leave an argument out; can be given again', collect)
    .addHelpText('after', example('toolkeel approvals edit op_4a1f --set amount=20 --hash 9c2e…'))
    .action(
      run(async (id: string, flags: EditFlags) => (await load()).editApproval(id, flags, runtime)),
    );
}

function addAudit(audit: Command, { run, runtime, example }: Tools): void {
  const load = () => import('../commands/audit.js');
  audit
    .description('Checks and exports the chain of everything that was decided and sent.')
    .addHelpText('after', example('toolkeel audit verify'));
  withDeskFlags(audit.command('head'))
    .description('Prints the end of the chain. Keep it where nobody who can write the journal can.')
    .addHelpText('after', example('toolkeel audit head'))
    .action(run(async (flags: OperatorFlags) => (await load()).auditHead(flags, runtime)));
  withDeskFlags(audit.command('verify'))
    .description('Looks whether rows were altered, are missing or were cut off; ends with 1 then.')
    .option('--expect <seq:hash>', 'a head that was kept elsewhere')
    .addHelpText('after', example('toolkeel audit verify --expect 1042:5e8f…'))
    .action(run(async (flags: VerifyFlags) => (await load()).verifyAudit(flags, runtime)));
  withConfig(audit.command('export'))
    .description('Prints the rows of a time.')
    .option('--format <name>', 'jsonl or csv (default: jsonl)')
    .option('--since <time>', 'a time, or how long ago: 2026-05-01, 7d')
    .option('--until <time>', 'before that')
    .addHelpText('after', example('toolkeel audit export --format csv --since 30d > audit.csv'))
    .action(run(async (flags: ExportFlags) => (await load()).exportAudit(flags, runtime)));
}

function withConfig(command: Command): Command {
  return command
    .option('--verbose', 'say all there is to say')
    .option('--config <file>', 'the configuration (default: toolkeel.config.json, if it is there)');
}

function withDeskFlags(command: Command): Command {
  return withConfig(command).option('--json', 'for programs');
}

function withFilters(command: Command): Command {
  return command
    .option('--tool <name>', 'only of this tool')
    .option('--account <name>', 'only of this account')
    .option('--since <time>', 'a time, or how long ago: 2026-05-01, 2h, 7d')
    .option('--until <time>', 'before that')
    .option('--limit <number>', 'at most so many (default: 100)')
    .option('--before <id>', 'go on behind this one, the last of the page before');
}

function withDecisionFlags(command: Command): Command {
  return withDeskFlags(command)
    .option('--hash <hash>', 'of what you have seen; without it you are shown it and asked')
    .option('--by <name>', 'who decides (default: your user)');
}
