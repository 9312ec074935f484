import type { Fault } from '@toolkeel/kernel';
import type { Controls } from '../tool/controls.js';
import type { Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import { handlerContext, type Call } from './call.js';
import { asDeclared } from './failure.js';
import { fromFault, handle } from './handle.js';
import { settleWithin, STOPPED, stopBefore, type Stop } from './limits.js';
import type { Next, Settled, SettledFailure } from './options.js';
import { vet, withSoundFigures } from './vet.js';

interface Work {
  readonly args: Arguments;
  readonly controls: Controls;
  readonly account: string;
  readonly cursor: unknown;
}

/** Runs the handler and what stands around it, inside the limits of the call. */
export async function perform(tool: Tool, work: Work, call: Call): Promise<Settled> {
  const { limits, correlationId } = call;
  const { args, controls, account, cursor } = work;
  const early = limits && stopBefore(limits);
  if (early) return stopped(tool, early, false, call);

  const begin: Next = (extra) => handle(tool, args, handlerContext(call, cursor, extra), call);
  const { around } = call.options;
  if (!around && !limits) return withSoundFigures(await begin(), call);

  const checked: Settled[] = [];
  let begun = false;
  let stop: Stop | undefined;
  const next: Next = async (extra) => {
    // The caller has its answer already, and it says whether the handler had begun.
    if (stop) return stopped(tool, stop, begun, call);
    begun = true;
    const settled = await begin(extra);
    checked.push(settled);
    return settled;
  };
  const run = async (): Promise<Settled> =>
    around ? around({ tool, args, controls, account, correlationId }, next) : next();
  const onStop = (why: Stop): void => {
    stop = why;
  };

  const ended = limits
    ? await settleWithin(limits, run, { onStop, onLate: call.report })
    : await run();
  if (ended !== STOPPED) return vet(tool, ended, checked, call);
  return stopped(tool, stop ?? 'deadline', begun, call);
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
