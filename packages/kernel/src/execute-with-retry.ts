import { classifyError, type Classify } from './classify.js';
import type { RetryPolicy } from './decide/retry-policy.js';
import type { CallOptions } from './engine/call.js';
import { compose, type PipelineOptions } from './engine/pipeline.js';
import { thrownFor } from './fault-error.js';
import { observeScoped } from './layers/observe.js';
import { retry } from './layers/retry.js';
import { callScopes, inScope } from './scope.js';

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
