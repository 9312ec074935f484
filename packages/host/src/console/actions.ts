import type { ActResponse, Action, Check, Difference, Preview } from '@toolkeel/console';
import type { ApprovalPreview, OperationView } from '@toolkeel/journal';
import * as z from 'zod';
import type { OperatorJournal } from '../governance/operator.js';
import { executionChecks, readCheck, readFailure, readFrom } from './checks.js';
import { ApiError, conflict, invalid, operationNotFound, stateMoved } from './errors.js';
import type { KnownProcess } from './process-view.js';
import { actionsOf, nextStep } from './operation-view.js';
import type { TextPreviewOf } from './text-preview.js';

export interface ActionDeps {
  readonly journal: OperatorJournal;
  readonly processes: readonly KnownProcess[];
  /** On the store's clock. */
  readonly now: number;
  /** The actor of the audit entry. */
  readonly by: string;
  readonly textPreview: TextPreviewOf;
}

/** Computes what an action would do. Changes nothing. */
export async function previewAction(deps: ActionDeps, action: Action): Promise<Preview> {
  const { journal, by, now } = deps;
  const operation = await journal.operations.show(action.operation_id);
  if (!operation) throw operationNotFound();
  const { id, tool, account, approval } = operation;
  const base = {
    action: action.action,
    operation_id: id,
    operation,
    audit: { ...auditOf(action, operation), actor: by, operation_id: id, tool, account },
  };
  const possible = actionsOf(operation);
  if (!possible.includes(action.action)) {
    const refused = nextStep(operation) ?? `It is ${operation.state}.`;
    return withVersion({ ...base, consequences: [], checks: [], refused }, basisOf(operation, []));
  }
  if (!isExecution(action)) {
    const { arguments: args } = operation;
    const text = args && (await deps.textPreview(tool, args));
    const refused = refusalOf(action);
    return withVersion(
      {
        ...base,
        ...(args && { arguments: args }),
        ...(approval && { hash: approval.hash }),
        ...(text && { text }),
        consequences: consequencesOf(action, operation, {
          where: readFrom(operation, deps.processes, now),
        }),
        checks: action.action === 'check_upstream' ? readCheck(operation, deps.processes, now) : [],
        ...(refused !== undefined && { refused }),
      },
      basisOf(operation, []),
    );
  }
  const edit = isEdit(action)
    ? { changes: action.changes ?? {}, ...(action.remove && { remove: action.remove }) }
    : undefined;
  let previewed: ApprovalPreview | undefined;
  try {
    previewed = await journal.approvals.preview(id, edit);
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== 'JournalError' || !edit) throw cause;
    const refused = `The edit is refused: ${cause.message}.`;
    return withVersion({ ...base, consequences: [], checks: [], refused }, basisOf(operation, []));
  }
  if (!previewed) throw operationNotFound();
  const { arguments: args, hash, cost } = previewed;
  const checks = executionChecks(previewed, deps.processes, now);
  const isRefused = checks.find(
    ({ by: source, result }) => result === 'blocks' && REFUSING.has(source),
  );
  const isInvalidEdit =
    edit && checks.find((check) => check.result === 'blocks' && check.by === 'policy');
  const refused = (isRefused ?? isInvalidEdit)?.text;
  const text = args && (await deps.textPreview(tool, args));
  return withVersion(
    {
      ...base,
      audit: { ...base.audit, ...auditOf(action, operation, hash) },
      ...(args && { arguments: args }),
      hash,
      ...(text && { text }),
      ...(edit && operation.arguments && { arguments_before: operation.arguments }),
      consequences: consequencesOf(action, operation, {
        checks,
        isPost: text?.kind === 'post',
        ...(cost && { cost }),
      }),
      checks,
      ...(refused !== undefined && { refused }),
    },
    basisOf(operation, checks),
  );
}

/** Checks that make a decision impossible; all others only delay or stop the execution. */
const REFUSING: ReadonlySet<Check['by']> = new Set(['arguments', 'expiry']);

/** Executes what a preview showed, unless the state is another one now. */
export async function act(
  deps: ActionDeps,
  action: Action,
  version: string,
): Promise<Omit<ActResponse, 'audit'>> {
  const preview = await previewAction(deps, action);
  const seen = fromVersion(version);
  const difference = differences(seen, fromVersion(preview.version));
  if (difference.length > 0) throw stateMoved(difference, preview);
  if (preview.refused !== undefined) {
    const { operation } = preview;
    throw new ApiError(409, 'refused', preview.refused, 'Show it again.', { operation });
  }
  const { name, result } = await execute(deps, action, preview);
  return { action: action.action, ...result, text: name };
}

interface Executed {
  readonly name: string;
  readonly result: Pick<ActResponse, 'operation' | 'settled'>;
}

async function execute(
  { journal: { approvals, operations }, by, processes, now }: ActionDeps,
  action: Action,
  { operation: before, checks }: Preview,
): Promise<Executed> {
  const { operation_id: id, reason, data, changes = {}, remove = [] } = action;
  const why = reason === undefined ? {} : { reason };
  const hash = before.approval?.hash ?? '';
  const approve = async (seen: string): Promise<Executed> => {
    const decided = await approvals.approve(id, { hash: seen, by, ...why });
    if (decided.kind !== 'decided') throw conflict(decided);
    const stops = checks.filter(({ result }) => result === 'blocks');
    const name =
      stops.length === 0
        ? 'Approved. A live process executes it now.'
        : `Approved, but not executed yet: ${stops.map(({ text }) => text).join(' ')}`;
    return { name, result: { operation: decided.operation } };
  };
  switch (action.action) {
    case 'approve':
      return approve(hash);
    case 'edit':
    case 'edit_and_approve': {
      const edited = await approvals.edit(id, { hash, by, changes, remove });
      if (edited.kind !== 'decided') throw conflict(edited);
      if (action.action === 'edit') {
        const name = 'The arguments are changed. It still waits for a decision.';
        return { name, result: { operation: edited.operation } };
      }
      return approve(edited.operation.approval?.hash ?? '');
    }
    case 'reject': {
      const decided = await approvals.reject(id, { hash, by, ...why });
      if (decided.kind !== 'decided') throw conflict(decided);
      return { name: 'Rejected. Nothing is sent.', result: { operation: decided.operation } };
    }
    case 'withdraw': {
      const isEnded = await operations.withdraw(id, by);
      const operation = (await operations.show(id)) ?? before;
      if (!isEnded) {
        const message = 'It does not wait any more, so nothing was changed.';
        throw new ApiError(409, 'not_waiting', message, 'Show it again.', { operation });
      }
      return { name: 'Withdrawn. Nothing is sent.', result: { operation } };
    }
    case 'check_upstream': {
      const { operation, reason: open } = await operations.check(id, by);
      const settled = operation.state !== 'unknown';
      const found = operation.outcome === 'executed' ? 'It happened' : 'It did not happen';
      const name = settled
        ? `${found}: the upstream was read.`
        : `Still unknown: ${readFailure(operation, processes, now) ?? operation.blocked?.explanation ?? open ?? 'the read-back gave no answer.'}`;
      return { name, result: { operation, settled } };
    }
    case 'it_happened':
    case 'it_did_not_happen': {
      const outcome = action.action === 'it_happened' ? 'executed' : 'not_executed';
      const given = data === undefined ? {} : { data };
      const operation = await operations.resolve(id, { outcome, by, ...why, ...given });
      const name =
        outcome === 'executed'
          ? 'Settled as executed. Repeats get this result, and nothing is sent again.'
          : 'Settled as not executed. The agent may call it again.';
      return { name, result: { operation, settled: true } };
    }
  }
}

const isEdit = ({ action }: Action): boolean => action === 'edit' || action === 'edit_and_approve';
const isExecution = (action: Action): boolean => action.action === 'approve' || isEdit(action);

function refusalOf({ action, reason }: Action): string | undefined {
  const isMissing = reason === undefined || reason.trim() === '';
  if (action === 'it_did_not_happen' && isMissing) return 'A reason is required.';
  return undefined;
}

interface About {
  readonly checks?: readonly Check[];
  readonly isPost?: boolean;
  readonly cost?: NonNullable<ApprovalPreview['cost']>;
  /** What a read-back reads. */
  readonly where?: string;
}

/** As the page writes costs: `1 post`, `0.20 USD`, `0.015 USD`. */
export function amountText({ amount, unit }: NonNullable<About['cost']>): string {
  const minimumFractionDigits = /^[A-Z]{3}$/.test(unit) ? 2 : 0;
  return `${amount.toLocaleString('en', { minimumFractionDigits, maximumFractionDigits: 6 })} ${unit}`;
}

function consequencesOf(
  action: Action,
  { tool, account, approval, steps, effect }: OperationView,
  { checks = [], isPost = false, cost, where = '' }: About,
): readonly string[] {
  const textsOf = (wanted: Check['result']): string[] =>
    checks.filter(({ result }) => result === wanted).map(({ text }) => text);
  const [blocked, warnings] = [textsOf('blocks'), textsOf('warns')];
  const isPaused = checks.some(({ by, result }) => by === 'circuit' && result === 'blocks');
  const price = cost === undefined ? '' : `, for ${amountText(cost)}`;
  const what = `${isPost ? 'Posts this' : `Runs ${tool}`} once, as ${account}${price}`;
  const end = warnings.length === 0 ? '; nothing blocks it now.' : '.';
  const executed =
    blocked.length === 0
      ? [`${what}, within about 1 s of your press${end}`, ...warnings]
      : [
          `Nothing is sent now. ${blocked.join(' ')}`,
          `Later: ${what.charAt(0).toLowerCase()}${what.slice(1)}, unless it expires first.`,
          ...(isPaused
            ? ['It may be the test itself, and fail or end with an unknown outcome.']
            : warnings),
        ];
  const step = steps.find(({ state }) => state === 'sending');
  switch (action.action) {
    case 'approve':
      return executed;
    case 'edit':
      return [
        'The arguments change, with a new hash.',
        'It still waits for a decision. Nothing is sent.',
      ];
    case 'edit_and_approve':
      return ['The arguments change, with a new hash.', ...executed];
    case 'reject':
      return [
        'Nothing is sent.',
        action.reason === undefined
          ? 'The agent gets the code approval_denied, without a reason.'
          : 'The agent gets the code approval_denied, with this reason.',
      ];
    case 'withdraw':
      return ['It is not executed, although it is approved.', 'The agent may request it again.'];
    case 'check_upstream':
      return [`Reads ${where}, and changes nothing there.`, 'Without proof it stays unknown.'];
    case 'it_happened':
      return [
        step
          ? `The step ${step.name} counts as executed, and a repeated call continues after it.`
          : 'Recorded as done, and never sent again.',
        action.data === undefined
          ? 'Repeated calls are told so.'
          : 'Repeated calls get this result.',
      ];
    case 'it_did_not_happen':
      return [
        'Recorded as not done.',
        effect === 'once'
          ? 'A repeated call sends it: if it did happen, it happens twice.'
          : 'A repeated call sends it again, which ends in the same state.',
        ...(approval ? ['A repeat may require a new approval.'] : []),
      ];
  }
}

type AuditOfAction = Pick<Preview['audit'], 'kind' | 'detail'>;

/** The entry that the transition writes, in the words of the audit. */
function auditOf(
  action: Action,
  { steps, approval }: OperationView,
  /** Of the edited arguments. */
  newHash?: string,
): AuditOfAction {
  const { reason } = action;
  const why = reason === undefined ? {} : { reason };
  const decided = newHash ?? approval?.hash;
  const hash = decided === undefined ? {} : { hash: decided };
  const step = steps.find(({ state }) => state === 'sending')?.name;
  switch (action.action) {
    case 'approve':
    case 'edit_and_approve':
      return { kind: 'approval_decided', detail: { decision: 'approved', ...hash, ...why } };
    case 'reject':
      return { kind: 'approval_decided', detail: { decision: 'rejected', ...hash, ...why } };
    case 'edit':
      return {
        kind: 'approval_edited',
        detail: { from: approval?.hash, ...(newHash !== undefined && { to: newHash }) },
      };
    case 'withdraw':
      return { kind: 'withdrawn', detail: {} };
    case 'check_upstream':
      return { kind: 'read_back_requested', detail: {} };
    case 'it_happened':
    case 'it_did_not_happen': {
      const outcome = action.action === 'it_happened' ? 'executed' : 'not_executed';
      return step === undefined
        ? { kind: 'reconciled', detail: { outcome, ...why } }
        : { kind: 'step_resolved', detail: { step, outcome, ...why } };
    }
  }
}

/** The state that a preview is based on, as readable values. */
type Basis = Readonly<Record<string, string>>;

function basisOf(operation: OperationView, checks: readonly Check[]): Basis {
  const { state, approval, steps, outcome } = operation;
  const open = steps.map((step) => `${step.name} ${step.state}`).join(', ');
  return {
    state,
    ...(outcome && { outcome }),
    ...(approval && {
      arguments: approval.edited
        ? `${approval.hash} (edited by ${approval.edited_by ?? 'an operator'})`
        : approval.hash,
      decision:
        approval.decision === undefined
          ? 'none'
          : `${approval.decision} by ${approval.decided_by ?? 'the policy'}`,
    }),
    ...(open && { steps: open }),
    ...Object.fromEntries(
      checks.map(({ by, result, text }) => [CHECKED[by] ?? by, basisOfCheck(result, text)]),
    ),
  };
}

/** `arguments` is their hash. */
const CHECKED: Readonly<Record<string, string>> = { arguments: 'check of the arguments' };

/** The name of the executing process and similar details may change without consequence. */
function basisOfCheck(result: Check['result'], text: string): string {
  if (result === 'blocks') return `stops it: ${text}`;
  return result === 'warns' ? 'does not stop it, but it may fail' : 'does not stop it';
}

function withVersion(preview: Omit<Preview, 'version'>, basis: Basis): Preview {
  return { ...preview, version: Buffer.from(JSON.stringify(basis)).toString('base64url') };
}

const basisSchema = z.record(z.string(), z.string());

function fromVersion(version: string): Basis {
  try {
    const basis = basisSchema.safeParse(JSON.parse(Buffer.from(version, 'base64url').toString()));
    if (basis.success) return basis.data;
  } catch {
    // Refused below.
  }
  throw invalid('version must be that of a preview');
}

function differences(was: Basis, is: Basis): readonly Difference[] {
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((field) => was[field] !== is[field])
    .map((field) => ({
      field,
      was: (was[field] ?? 'absent').slice(0, 500),
      is: is[field] ?? 'absent',
    }));
}
