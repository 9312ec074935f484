import { type Classify, classifyError, soundly } from './classify.js';
import { definePolicy, type ResiliencePolicy, type RetryPolicy } from './decide/policy.js';
import { refuse } from './decide/validate.js';
import type { CallOptions } from './engine/call.js';
import type { CallFn, UntypedResilientFunction, Layer } from './engine/layer.js';
import {
  compose,
  Pipeline,
  type PipelineOptions,
  type ResilientFunction,
  type Work,
} from './engine/pipeline.js';
import { attemptTimeout, deadline, idle, retry } from './layers/retry-and-timeouts.js';
import { refreshAuth, type RefreshAuth } from './layers/refresh-auth.js';
import { observeScoped } from './layers/observe.js';
import type { Listener } from './events.js';
import { callScopes, inScope } from './call-scope.js';
import { Upstream } from './upstream.js';
import { thrownFor } from './fault.js';

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

export interface ExecuteOptions extends CallOptions, Partial<Omit<PipelineOptions, 'classify'>> {
  readonly classify?: Classify;
}

/**
 * Runs an operation and retries it as the policy says. Fails with the last error that the operation
 * threw, as it was thrown. Nothing but retries: no timeout, no breaker; `guard` has those.
 */
export async function executeWithRetry<T>(
  operation: () => Promise<T> | T,
  policy: Partial<RetryPolicy> = {},
  options: ExecuteOptions = {},
): Promise<T> {
  let thrown: { readonly error: unknown } | undefined;
  const attempt = async (): Promise<T> => {
    thrown = undefined;
    try {
      return await operation();
    } catch (error) {
      thrown = { error };
      throw error;
    }
  };
  const settings = { effect: 'read', classify: classifyError, ...options } as const;
  const outcome = await compose([retry(policy), observeScoped()], settings)
    .wrap(attempt)
    .outcome(undefined, inScope(options));
  if (outcome.ok) return outcome.value;
  // Aborted, or over time: then it was not the operation that failed.
  if (outcome.fault.kind === 'cancelled' || !thrown) throw thrownFor(outcome.fault);
  throw thrown.error ?? thrownFor(outcome.fault);
}

callScopes.isUsed = true;
