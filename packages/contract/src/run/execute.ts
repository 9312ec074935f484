import type { Fault } from '@toolkeel/kernel';
import type { CheckContext } from '../tool/context.js';
import type { Controls } from '../tool/controls.js';
import type { AccountId, Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import { type Call, handlerContext } from './call.js';
import { asDeclared, ContractViolation, internalError } from './failure.js';
import { fromFault, fromReturned, fromThrown, handle, isThenable } from './run-handler.js';
import { settleWithin, STOPPED, stopBefore, type Stop } from './deadline.js';
import type {
  AcceptedCall,
  Middleware,
  Next,
  RunOptions,
  Settled,
  SettledFailure,
} from './options.js';
import { vet, withSoundFigures } from './validate-result.js';
import { onlyOutcomeOf } from '../codes/table.js';
import { isAnswer, isFaulted, isToolError } from '../tool/result.js';

interface Work {
  readonly args: Arguments;
  readonly controls: Controls;
  readonly account: string;
  readonly cursor: unknown;
}

/** How far a call came, and what ended it. */
interface Life {
  begun: boolean;
  stop?: Stop;
}

type Begin = (given: RunOptions['given']) => Settled | Promise<Settled>;

/** Runs the handler and what stands around it, inside the limits of the call. */
export function perform(tool: Tool, work: Work, call: Call): Settled | Promise<Settled> {
  const { limits, options } = call;
  const { args } = work;
  const early = limits && stopBefore(limits);
  if (early) return stopped(tool, early, false, call);

  const life: Life = { begun: false };
  const context = (): CheckContext => {
    const given = handlerContext(call, work, options.given);
    return options.argumentsOnly ? { ...given, argumentsOnly: true } : given;
  };
  const check = checkOf(tool, args, context, call);
  const enter: Begin = (given) => {
    // The caller has its answer already, and it says whether the handler had begun.
    if (life.stop) return stopped(tool, life.stop, life.begun, call);
    life.begun = true;
    return handle(tool, args, handlerContext(call, work, given), call);
  };
  const begin: Begin = (given) => {
    const checked = check.wasAsked() ? undefined : check.ask();
    if (checked instanceof Promise) return checked.then((said) => said ?? enter(given));
    return checked ?? enter(given);
  };
  if (options.middleware) {
    const accepted = acceptedCall(tool, work, call, check);
    return performAround(accepted, call, options.middleware, { begin, life });
  }
  const settled = begin(options.given);
  if (!(settled instanceof Promise)) return withSoundFigures(settled, call);
  if (!limits) return settled.then((ended) => withSoundFigures(ended, call));
  return settleWithin(limits, settled, watcher(call, life)).then((ended) =>
    ended === STOPPED ? endOf(tool, life, call) : withSoundFigures(ended, call),
  );
}

function acceptedCall(tool: Tool, work: Work, call: Call, check: Check): AcceptedCall {
  const { args, controls, account } = work;
  const { correlationId, options } = call;
  let resolved: ReturnType<AcceptedCall['accountId']> | undefined;
  return {
    tool,
    args,
    controls,
    account,
    accountId: () => {
      const context = { ...handlerContext(call, work, options.given), account };
      return (resolved ??= resolveAccount(tool, args, context, call));
    },
    correlationId,
    check: async () => check.ask(),
  };
}

async function performAround(
  accepted: AcceptedCall,
  call: Call,
  middleware: Middleware,
  { begin, life }: { readonly begin: Begin; readonly life: Life },
): Promise<Settled> {
  const { tool } = accepted;
  const { limits } = call;
  const checked: Settled[] = [];
  const next: Next = async (given) => {
    const settled = await begin(given);
    checked.push(settled);
    return settled;
  };
  const run = async (): Promise<Settled> => middleware(accepted, next);
  const ended = limits ? await settleWithin(limits, run(), watcher(call, life)) : await run();
  return ended === STOPPED ? endOf(tool, life, call) : vet(tool, ended, checked, call);
}

function endOf(tool: Tool, { stop = 'deadline', begun }: Life, call: Call): SettledFailure {
  return stopped(tool, stop, begun, call);
}

function watcher({ options, report }: Call, life: Life) {
  const { onPending, onLate } = options;
  return {
    onPending,
    onStop: (why: Stop): void => {
      life.stop = why;
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
function stopped(tool: Tool, why: Stop, begun: boolean, call: Call): SettledFailure {
  const sent = begun ? 'maybe' : 'no';
  const fault: Fault =
    why === 'deadline' ? { kind: 'timeout', clock: why, sent } : { kind: why, sent };
  try {
    return asDeclared(tool, fromFault(tool, fault, call), call.report);
  } catch (cause) {
    call.report(cause);
    const { faultToError: _broken, ...plain } = tool;
    return asDeclared(plain, fromFault(plain, fault, call), call.report);
  }
}

type Checked = Settled | undefined;

/** The check of a tool, for one call. */
interface Check {
  /** Runs it the first time, without a promise where it makes none. Never rejects. */
  readonly ask: () => Checked | Promise<Checked>;
  readonly wasAsked: () => boolean;
}

function checkOf(tool: Tool, args: Arguments, context: () => CheckContext, call: Call): Check {
  let asked: { readonly said: Checked | Promise<Checked> } | undefined;
  return {
    ask: () => (asked ??= { said: runCheck(tool, args, context, call) }).said,
    wasAsked: () => asked !== undefined,
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
  const said = (returned: unknown) => settle(() => fromSaid(tool, returned, call));
  const thrown = (cause: unknown) => settle(() => fromThrown(tool, cause, call));
  try {
    const returned = tool.check(args, context());
    if (isThenable(returned)) return Promise.resolve(returned).then(said, thrown);
    return said(returned);
  } catch (cause) {
    return thrown(cause);
  }
}

function fromSaid(tool: Tool, returned: unknown, call: Call): Checked {
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
    return asDeclared(tool, internalError(outcome), call.report);
  }
  return asDeclared(tool, { ...failure, error: { ...error, outcome } }, call.report);
}
