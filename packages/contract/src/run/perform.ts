import type { Fault } from '@toolkeel/kernel';
import type { CheckContext } from '../tool/context.js';
import type { Controls } from '../tool/controls.js';
import type { Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import { handlerContext, type Call } from './call.js';
import { checkOf, resolveAccount, type Check } from './check.js';
import { asDeclared } from './failure.js';
import { fromFault, handle } from './handle.js';
import { settleWithin, STOPPED, stopBefore, type Stop } from './limits.js';
import type {
  AcceptedCall,
  Middleware,
  Next,
  RunOptions,
  Settled,
  SettledFailure,
} from './options.js';
import { vet, withSoundFigures } from './vet.js';

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
  if (options.around) {
    const accepted = acceptedCall(tool, work, call, check);
    return performAround(accepted, call, options.around, { begin, life });
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
  around: Middleware,
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
  const run = async (): Promise<Settled> => around(accepted, next);
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
