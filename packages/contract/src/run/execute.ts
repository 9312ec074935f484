import type { Fault } from '@toolkeel/kernel';
import type { CheckContext } from '../tool/context.js';
import type { Controls } from '../tool/controls.js';
import type { AccountId, Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import { type Call, handlerContext } from './call.js';
import { enforceDeclaredCode, ContractViolation, internalError } from './failure.js';
import { fromFault, fromReturned, fromThrown, runHandler, isThenable } from './run-handler.js';
import { withDeadline, STOPPED, stopReasonAtStart, type StopReason } from './deadline.js';
import type {
  AcceptedCall,
  Middleware,
  Next,
  RunOptions,
  Settled,
  SettledFailure,
} from './options.js';
import { validateResult, dropInvalidMeta } from './validate-result.js';
import { onlyOutcomeOf } from '../codes/table.js';
import { isAnswer, isFaulted, isToolError } from '../tool/result.js';

interface AcceptedInput {
  readonly args: Arguments;
  readonly controls: Controls;
  readonly account: string;
  readonly cursor: unknown;
}

/** How far a call came, and what ended it. */
interface ExecutionState {
  started: boolean;
  stop?: StopReason;
}

type StartHandler = (extraContext: RunOptions['extraContext']) => Settled | Promise<Settled>;

/** Runs the handler and what stands around it, inside the limits of the call. */
export function execute(tool: Tool, work: AcceptedInput, call: Call): Settled | Promise<Settled> {
  const { bounds, options } = call;
  const { args } = work;
  const early = bounds && stopReasonAtStart(bounds);
  if (early) return stopped(tool, early, false, call);

  const state: ExecutionState = { started: false };
  const context = (): CheckContext => {
    const extraContext = handlerContext(call, work, options.extraContext);
    return options.argumentsOnly ? { ...extraContext, argumentsOnly: true } : extraContext;
  };
  const check = createCheck(tool, args, context, call);
  const enter: StartHandler = (extraContext) => {
    // The caller has its answer already, and it says whether the handler had begun.
    if (state.stop) return stopped(tool, state.stop, state.started, call);
    state.started = true;
    return runHandler(tool, args, handlerContext(call, work, extraContext), call);
  };
  const begin: StartHandler = (extraContext) => {
    const checked = check.hasRun() ? undefined : check.ask();
    if (checked instanceof Promise) return checked.then((said) => said ?? enter(extraContext));
    return checked ?? enter(extraContext);
  };
  if (options.middleware) {
    const accepted = acceptedCall(tool, work, call, check);
    return executeWithMiddleware(accepted, call, options.middleware, { begin, state });
  }
  const settled = begin(options.extraContext);
  if (!(settled instanceof Promise)) return dropInvalidMeta(settled, call);
  if (!bounds) return settled.then((ended) => dropInvalidMeta(ended, call));
  return withDeadline(bounds, settled, watcher(call, state)).then((ended) =>
    ended === STOPPED ? endOf(tool, state, call) : dropInvalidMeta(ended, call),
  );
}

function acceptedCall(tool: Tool, work: AcceptedInput, call: Call, check: Check): AcceptedCall {
  const { args, controls, account } = work;
  const { correlationId, options } = call;
  let resolved: ReturnType<AcceptedCall['accountId']> | undefined;
  return {
    tool,
    args,
    controls,
    account,
    accountId: () => {
      const context = { ...handlerContext(call, work, options.extraContext), account };
      return (resolved ??= resolveAccount(tool, args, context, call));
    },
    correlationId,
    check: async () => check.ask(),
  };
}

async function executeWithMiddleware(
  accepted: AcceptedCall,
  call: Call,
  middleware: Middleware,
  { begin, state }: { readonly begin: StartHandler; readonly state: ExecutionState },
): Promise<Settled> {
  const { tool } = accepted;
  const { bounds } = call;
  const checked: Settled[] = [];
  const next: Next = async (extraContext) => {
    const settled = await begin(extraContext);
    checked.push(settled);
    return settled;
  };
  const run = async (): Promise<Settled> => middleware(accepted, next);
  const ended = bounds ? await withDeadline(bounds, run(), watcher(call, state)) : await run();
  return ended === STOPPED ? endOf(tool, state, call) : validateResult(tool, ended, checked, call);
}

function endOf(
  tool: Tool,
  { stop = 'deadline', started }: ExecutionState,
  call: Call,
): SettledFailure {
  return stopped(tool, stop, started, call);
}

function watcher({ options, report }: Call, state: ExecutionState) {
  const { onPending, onLate } = options;
  return {
    onPending,
    onStop: (why: StopReason): void => {
      state.stop = why;
    },
    onLate: (settled: Settled): void => {
      try {
        onLate?.(settled);
      } catch (cause) {
        report(cause);
      }
    },
    onLateFailure: report,
  };
}

/** The answer of a call that was stopped, in the tool's own words for such a fault. */
function stopped(tool: Tool, why: StopReason, started: boolean, call: Call): SettledFailure {
  const sent = started ? 'maybe' : 'no';
  const fault: Fault =
    why === 'deadline' ? { kind: 'timeout', clock: why, sent } : { kind: why, sent };
  try {
    return enforceDeclaredCode(tool, fromFault(tool, fault, call), call.report);
  } catch (cause) {
    call.report(cause);
    const { faultToError: _broken, ...plain } = tool;
    return enforceDeclaredCode(plain, fromFault(plain, fault, call), call.report);
  }
}

type Checked = Settled | undefined;

/** The check of a tool, for one call. */
interface Check {
  /** Runs it the first time, without a promise where it makes none. Never rejects. */
  readonly ask: () => Checked | Promise<Checked>;
  readonly hasRun: () => boolean;
}

function createCheck(tool: Tool, args: Arguments, context: () => CheckContext, call: Call): Check {
  let asked: { readonly said: Checked | Promise<Checked> } | undefined;
  return {
    ask: () => (asked ??= { said: runCheck(tool, args, context, call) }).said,
    hasRun: () => asked !== undefined,
  };
}

function runCheck(
  tool: Tool,
  args: Arguments,
  context: () => CheckContext,
  call: Call,
): Checked | Promise<Checked> {
  if (!tool.check) return undefined;
  const settle = (read: () => Checked): Checked => {
    try {
      const settled = read();
      return settled?.ok === false ? refusal(tool, settled, call) : settled;
    } catch (cause) {
      call.report(cause);
      return refusal(tool, internalError(), call);
    }
  };
  const said = (returned: unknown) => settle(() => fromCheckResult(tool, returned, call));
  const thrown = (cause: unknown) => settle(() => fromThrown(tool, cause, call));
  try {
    const returned = tool.check(args, context());
    if (isThenable(returned)) return Promise.resolve(returned).then(said, thrown);
    return said(returned);
  } catch (cause) {
    return thrown(cause);
  }
}

function fromCheckResult(tool: Tool, returned: unknown, call: Call): Checked {
  if (returned === undefined) return undefined;
  const isSound = isToolError(returned) || isFaulted(returned) || isAnswer(returned);
  if (isSound) return fromReturned(tool, returned, call);
  // Bare data would be an answer by mistake: a check that says `true` means that all is well.
  call.report(new ContractViolation(tool.name, 'has a check that says neither yes nor no'));
  return internalError();
}

/** Resolves the account that a call acts for. Never rejects; whatever fails, nothing was sent. */
async function resolveAccount(
  tool: Tool,
  args: Arguments,
  context: CheckContext & { readonly account: string },
  call: Call,
): Promise<AccountId | SettledFailure> {
  if (!tool.accountId) return { id: context.account };
  try {
    const { id, formerly } = await tool.accountId(args, context);
    if (typeof id === 'string' && id !== '') return formerly ? { id, formerly } : { id };
    call.report(new ContractViolation(tool.name, 'resolved its account to an empty id'));
    return refusal(tool, internalError(), call);
  } catch (cause) {
    try {
      const failure = fromThrown(tool, cause, call);
      return refusal(tool, failure.ok ? internalError() : failure, call);
    } catch (broken) {
      call.report(broken);
      return refusal(tool, internalError(), call);
    }
  }
}

/** Whatever a check says or how it breaks: nothing was sent. */
function refusal(tool: Tool, failure: SettledFailure, call: Call): SettledFailure {
  const outcome = 'not_executed';
  const { error } = failure;
  if ((onlyOutcomeOf(error.code) ?? outcome) !== outcome) {
    call.report(new ContractViolation(tool.name, `has a check that answers with ${error.code}`));
    return enforceDeclaredCode(tool, internalError(outcome), call.report);
  }
  return enforceDeclaredCode(tool, { ...failure, error: { ...error, outcome } }, call.report);
}
