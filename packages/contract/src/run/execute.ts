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
import { onlyOutcomeOf } from '../codes/registry.js';
import { isAnswer, isFaulted, isToolError } from '../tool/result.js';

interface AcceptedInput {
  readonly args: Arguments;
  readonly controls: Controls;
  readonly account: string;
  readonly cursor: unknown;
}

/** Whether the handler has started, and what stopped the call. */
interface ExecutionState {
  started: boolean;
  stoppedBy?: StopReason;
}

type StartHandler = (extraContext: RunOptions['extraContext']) => Settled | Promise<Settled>;

/** Runs the check, the middleware and the handler until the deadline or an abort. */
export function execute(tool: Tool, input: AcceptedInput, call: Call): Settled | Promise<Settled> {
  const { bounds, options } = call;
  const { args } = input;
  const early = bounds && stopReasonAtStart(bounds);
  if (early) return stopped(tool, early, false, call);

  const state: ExecutionState = { started: false };
  const context = (): CheckContext => {
    const plain = handlerContext(call, tool, input, options.extraContext);
    return options.argumentsOnly ? { ...plain, argumentsOnly: true } : plain;
  };
  const check = createCheck(tool, args, context, call);
  const startHandler: StartHandler = (extraContext) => {
    // The call has been answered, and its outcome depends on whether the handler had started.
    if (state.stoppedBy) return stopped(tool, state.stoppedBy, state.started, call);
    state.started = true;
    return runHandler(tool, args, handlerContext(call, tool, input, extraContext), call);
  };
  const checkAndStart: StartHandler = (extraContext) => {
    const checked = check.hasRun() ? undefined : check.run();
    if (checked instanceof Promise)
      return checked.then((result) => result ?? startHandler(extraContext));
    return checked ?? startHandler(extraContext);
  };
  const { admit, middleware } = options;
  if (admit ?? middleware) {
    const accepted = acceptedCall(tool, input, call, check);
    const refused = admit?.(accepted);
    if (refused) return dropInvalidMeta(refused, call);
    if (middleware) {
      return executeWithMiddleware(accepted, call, middleware, { checkAndStart, state });
    }
  }
  const settled = checkAndStart(options.extraContext);
  if (!(settled instanceof Promise)) return dropInvalidMeta(settled, call);
  if (!bounds) return settled.then((ended) => dropInvalidMeta(ended, call));
  return withDeadline(bounds, settled, watcher(call, state)).then((ended) =>
    ended === STOPPED ? stoppedResult(tool, state, call) : dropInvalidMeta(ended, call),
  );
}

function acceptedCall(tool: Tool, input: AcceptedInput, call: Call, check: Check): AcceptedCall {
  const { args, controls, account } = input;
  const { correlationId, options } = call;
  let resolved: ReturnType<AcceptedCall['accountId']> | undefined;
  return {
    tool,
    args,
    controls,
    account,
    accountId: () => {
      const context = { ...handlerContext(call, tool, input, options.extraContext), account };
      return (resolved ??= resolveAccount(tool, args, context, call));
    },
    correlationId,
    check: async () => check.run(),
  };
}

async function executeWithMiddleware(
  accepted: AcceptedCall,
  call: Call,
  middleware: Middleware,
  {
    checkAndStart,
    state,
  }: { readonly checkAndStart: StartHandler; readonly state: ExecutionState },
): Promise<Settled> {
  const { tool } = accepted;
  const { bounds } = call;
  const checked: Settled[] = [];
  const next: Next = async (extraContext) => {
    const settled = await checkAndStart(extraContext);
    checked.push(settled);
    return settled;
  };
  const run = async (): Promise<Settled> => middleware(accepted, next);
  const ended = bounds ? await withDeadline(bounds, run(), watcher(call, state)) : await run();
  return ended === STOPPED
    ? stoppedResult(tool, state, call)
    : validateResult(tool, ended, checked, call);
}

function stoppedResult(
  tool: Tool,
  { stoppedBy = 'deadline', started }: ExecutionState,
  call: Call,
): SettledFailure {
  return stopped(tool, stoppedBy, started, call);
}

function watcher({ options, report }: Call, state: ExecutionState) {
  const { onPending, onLate } = options;
  return {
    onPending,
    onStop: (why: StopReason): void => {
      state.stoppedBy = why;
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

/** The failure of a stopped call, through the tool's own mapping of faults. */
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

/** The tool's check, which runs at most once per call. */
interface Check {
  /** Runs the check on first use; synchronous if the check is. Never rejects. */
  readonly run: () => Checked | Promise<Checked>;
  readonly hasRun: () => boolean;
}

function createCheck(tool: Tool, args: Arguments, context: () => CheckContext, call: Call): Check {
  let ran: { readonly result: Checked | Promise<Checked> } | undefined;
  return {
    run: () => (ran ??= { result: runCheck(tool, args, context, call) }).result,
    hasRun: () => ran !== undefined,
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
      return settled?.ok === false ? notExecuted(tool, settled, call) : settled;
    } catch (cause) {
      call.report(cause);
      return notExecuted(tool, internalError(), call);
    }
  };
  const returnedResult = (returned: unknown) => settle(() => fromCheckResult(tool, returned, call));
  const thrown = (cause: unknown) => settle(() => fromThrown(tool, cause, call));
  try {
    const returned = tool.check(args, context());
    if (isThenable(returned)) return Promise.resolve(returned).then(returnedResult, thrown);
    return returnedResult(returned);
  } catch (cause) {
    return thrown(cause);
  }
}

function fromCheckResult(tool: Tool, returned: unknown, call: Call): Checked {
  if (returned === undefined) return undefined;
  const isResult = isToolError(returned) || isFaulted(returned) || isAnswer(returned);
  if (isResult) return fromReturned(tool, returned, call);
  // Plain data is a mistake: a check that returns `true` does not mean to answer the call.
  call.report(
    new ContractViolation(
      tool.name,
      'has a check that returned neither undefined nor a tool result',
    ),
  );
  return internalError();
}

/** Resolves the account of a call. Never rejects; a failure means that nothing was sent. */
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
    return notExecuted(tool, internalError(), call);
  } catch (cause) {
    try {
      const failure = fromThrown(tool, cause, call);
      return notExecuted(tool, failure.ok ? internalError() : failure, call);
    } catch (mappingError) {
      call.report(mappingError);
      return notExecuted(tool, internalError(), call);
    }
  }
}

/** A failure of a check: nothing was sent. */
function notExecuted(tool: Tool, failure: SettledFailure, call: Call): SettledFailure {
  const outcome = 'not_executed';
  const { error } = failure;
  if ((onlyOutcomeOf(error.code) ?? outcome) !== outcome) {
    call.report(new ContractViolation(tool.name, `has a check that returned ${error.code}`));
    return enforceDeclaredCode(tool, internalError(outcome), call.report);
  }
  return enforceDeclaredCode(tool, { ...failure, error: { ...error, outcome } }, call.report);
}
