import { classifyError, soundly } from './classify.js';
import { definePolicy, type ResiliencePolicy } from './decide/policy.js';
import { refuse } from './decide/validate.js';
import type { CallOptions } from './engine/call.js';
import type { CallFn, UntypedResilientFunction, Layer } from './engine/layer.js';
import {
  Pipeline,
  type ResilientFunction,
  type PipelineOptions,
  type Work,
} from './engine/pipeline.js';
import { attemptTimeout, deadline, idle } from './layers/clocks.js';
import { refreshAuth, type RefreshAuth } from './layers/refresh-auth.js';
import { retry } from './layers/retry.js';
import { observeScoped } from './layers/observe.js';
import type { Listener } from './events.js';
import { callScopes, inScope } from './scope.js';
import { Upstream } from './upstream/upstream.js';

export interface ResilienceOptions extends PipelineOptions {
  /** Shared by all guards of one host. Without it this guard has an upstream of its own. */
  readonly upstream?: Upstream;
  readonly listener?: Listener;
  /**
   * Gets a fresh credential after a 401; the call is then tried once more. Rejecting, or answering
   * `false`, means that there is none to be had.
   */
  readonly refreshAuth?: RefreshAuth;
  /** More layers: a bulkhead, a cache, faults to inject. */
  readonly layers?: readonly Layer[];
}

/**
 * Guards a function by a policy: retries, clocks, budget, breaker and limits, in one call.
 *
 * @example
 * const getItem = guard((id: string, { signal }) => load(id, signal), presets.stac, { effect: 'read' });
 * const item = await getItem('S2A_32TQM');
 */
export function withResilience<I, O>(
  work: Work<I, O>,
  policy: Partial<ResiliencePolicy>,
  options: ResilienceOptions,
): ResilientFunction<I, O> {
  if (typeof work !== 'function') refuse('work', 'must be a function', typeof work);
  const checked = definePolicy(policy);
  const name = options?.name ?? (work.name || 'guarded');
  const shared = options?.upstream ?? new Upstream(name, checked);
  if (!(shared instanceof Upstream)) refuse('upstream', "must be made by upstream('name', policy)");
  const layers = [
    ...layersOf(checked),
    ...shared.layersFor(options?.effect),
    ...(options?.layers ?? []),
  ];
  if (options?.refreshAuth) layers.push(refreshAuth(options.refreshAuth));
  layers.push(observeScoped(options?.listener, shared.name));
  const classify = options?.classify ? soundly(options.classify) : classifyError;
  const guarded = new Pipeline(layers, { ...options, classify, name }).wrap(
    work,
  ) as UntypedResilientFunction;
  const scoped: CallFn = (input, given) => guarded.outcome(input, inScope(given));
  return Object.assign((input: unknown, given?: CallOptions) => guarded(input, inScope(given)), {
    outcome: scoped,
  }) as unknown as ResilientFunction<I, O>;
}

callScopes.isUsed = true;

function layersOf(policy: ResiliencePolicy): Layer[] {
  const { callTimeoutMs, attemptTimeoutMs, idleTimeoutMs } = policy;
  const layers = [retry(policy)];
  if (callTimeoutMs !== undefined) layers.push(deadline(callTimeoutMs));
  if (attemptTimeoutMs !== undefined) layers.push(attemptTimeout(attemptTimeoutMs));
  if (idleTimeoutMs !== undefined) layers.push(idle(idleTimeoutMs));
  return layers;
}
