import { type Classify, classifyError, sanitizeFaults } from './classify.js';
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
import { callScopes, addScope } from './call-scope.js';
import { Upstream } from './upstream.js';
import { toThrowable } from './fault.js';

export interface ResilienceOptions extends PipelineOptions {
  /** Shared by all functions that call one host. Default: an upstream of its own. */
  readonly upstream?: Upstream;
  readonly listener?: Listener;
  /**
   * Refreshes the credential after a 401; the call is then retried once. Rejecting or returning
   * `false` means that no new credential is available.
   */
  readonly refreshAuth?: RefreshAuth;
  /** Further layers: a bulkhead, a cache, fault injection. */
  readonly layers?: readonly Layer[];
}

/**
 * Wraps a function with retries, timeouts, retry budget, circuit breaker and rate limits.
 *
 * @example
 * const getItem = withResilience((id: string, { signal }) => load(id, signal), presets.stac, { effect: 'read' });
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
  const classify = options?.classify ? sanitizeFaults(options.classify) : classifyError;
  const resilient = new Pipeline(layers, { ...options, classify, name }).wrap(
    work,
  ) as UntypedResilientFunction;
  const scoped: CallFn = (input, callOptions) => resilient.outcome(input, addScope(callOptions));
  return Object.assign(
    (input: unknown, callOptions?: CallOptions) => resilient(input, addScope(callOptions)),
    {
      outcome: scoped,
    },
  ) as unknown as ResilientFunction<I, O>;
}

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
 * Runs an operation with retries only: no timeout, no breaker (see `withResilience`). Throws the last
 * error of the operation, unchanged.
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
    .outcome(undefined, addScope(options));
  if (outcome.ok) return outcome.value;
  // An abort or a deadline ended the call, not an error of the operation.
  if (outcome.fault.kind === 'cancelled' || !thrown) throw toThrowable(outcome.fault);
  throw thrown.error ?? toThrowable(outcome.fault);
}

callScopes.isUsed = true;
