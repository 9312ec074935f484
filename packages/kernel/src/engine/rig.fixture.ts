import type { Fault, Outcome } from '../fault.js';
import type { KernelEvent } from '../events.js';
import { observe } from '../layers/observe.js';
import { ScriptedUpstream, VirtualClock, type Step } from '../testing/index.js';
import type { CallOptions } from './call.js';
import type { Layer } from './layer.js';
import { compose, type PipelineOptions } from './pipeline.js';

export interface Rig {
  readonly clock: VirtualClock;
  readonly upstream: ScriptedUpstream<string, string>;
  readonly events: KernelEvent[];
  /** Makes a call and advances the clock until it settles. */
  call(options?: CallOptions): Promise<Outcome<string>>;
  /** Makes a call without advancing the clock. */
  begin(options?: CallOptions): Promise<Outcome<string>>;
  types(): string[];
}

/** A pipeline over a scripted upstream in virtual time, with recorded events. */
export function rig(
  steps: readonly Step<string>[],
  layers: readonly Layer[],
  options: Partial<PipelineOptions> = {},
): Rig {
  const clock = new VirtualClock({ epoch: 1_700_000_000_000 });
  const upstream = new ScriptedUpstream<string, string>(clock, steps);
  const events: KernelEvent[] = [];
  const pipeline = compose([...layers, observe((event) => events.push(event))], {
    effect: 'read',
    clock,
    random: () => 0.5,
    ...options,
  });
  const guarded = pipeline.wrap(upstream.handle);
  const begin = (callOptions?: CallOptions): Promise<Outcome<string>> =>
    guarded.outcome('input', callOptions);
  return {
    clock,
    upstream,
    events,
    begin,
    call: (callOptions) => clock.run(begin(callOptions)),
    types: () => events.map(({ type }) => type),
  };
}

export function faultOf(outcome: Outcome<unknown>): Fault {
  if (outcome.ok) throw new Error('expected a fault');
  return outcome.fault;
}
