import type { Fault } from '@toolkeel/kernel';
import type { Controls } from '../tool/controls.js';
import type { Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import { handlerContext, type Call } from './call.js';
import { asDeclared } from './failure.js';
import { fromFault, handle } from './handle.js';
import { settleWithin, STOPPED, stopBefore, type Stop } from './limits.js';
import type { Around, Next, RunOptions, Settled, SettledFailure } from './options.js';
import { vet, withSoundFigures } from './vet.js';

interface Work {
  readonly args: Arguments;
  readonly controls: Controls;
  readonly account: string;
  readonly cursor: unknown;
}

/** Runs the handler and what stands around it, inside the limits of the call. */
export function perform(tool: Tool, work: Work, call: Call): Settled | Promise<Settled> {
  const { limits, options } = call;
  const { args } = work;
  const early = limits && stopBefore(limits);
  if (early) return stopped(tool, early, false, call);

  const begin = (given: RunOptions['given']): Settled | Promise<Settled> =>
    handle(tool, args, handlerContext(call, work, given), call);
  if (options.around) return performAround(tool, work, call, options.around, begin);
  const settled = begin(options.given);
  if (!(settled instanceof Promise)) return withSoundFigures(settled, call);
  if (!limits) return settled.then((ended) => withSoundFigures(ended, call));
  let stop: Stop = 'deadline';
  const onStop = (why: Stop): void => {
    stop = why;
  };
  return settleWithin(limits, settled, { ...watcher(call), onStop }).then((ended) =>
    ended === STOPPED ? stopped(tool, stop, true, call) : withSoundFigures(ended, call),
  );
}

async function performAround(
  tool: Tool,
  { args, controls, account }: Work,
  call: Call,
  around: Around,
  begin: (given: RunOptions['given']) => Settled | Promise<Settled>,
): Promise<Settled> {
  const { limits, correlationId } = call;
  const checked: Settled[] = [];
  let begun = false;
  let stop: Stop | undefined;
  const next: Next = async (given) => {
    // The caller has its answer already, and it says whether the handler had begun.
    if (stop) return stopped(tool, stop, begun, call);
    begun = true;
    const settled = await begin(given);
    checked.push(settled);
    return settled;
  };
  const run = async (): Promise<Settled> =>
    around({ tool, args, controls, account, correlationId }, next);
  const onStop = (why: Stop): void => {
    stop = why;
  };
  const ended = limits
    ? await settleWithin(limits, run(), { ...watcher(call), onStop })
    : await run();
  if (ended !== STOPPED) return vet(tool, ended, checked, call);
  return stopped(tool, stop ?? 'deadline', begun, call);
}

function watcher({ options, report }: Call) {
  const { onPending, onLate } = options;
  return {
    onPending,
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
