import { FaultError, parseServerHints, type Fault, type FaultKind } from '@toolkeel/kernel';
import type { HttpHeaders } from '../http/request.js';
import { heldBack } from '../limits/held-back.js';
import { readProblem, type Problem } from './problem.js';
import { refusalOf, type Refusal } from './refusal.js';

/** A failure that X told us about, or an answer that nobody can read. */
export class UpstreamProblem extends Error {
  override readonly name = 'UpstreamProblem';
  readonly refusal: Refusal | undefined;
  readonly problem: Problem | undefined;

  constructor(refusal?: Refusal, problem?: Problem) {
    super(refusal ?? 'an answer that cannot be understood');
    this.refusal = refusal;
    this.problem = problem;
  }
}

const kinds: Partial<Record<Refusal, FaultKind>> = {
  rate_limited: 'rate_limited',
  usage_cap: 'rate_limited',
  server_error: 'server',
  unauthorized: 'auth',
};

interface Failed {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Parsed where it was JSON. */
  readonly body: unknown;
}

/** An answer that is no success, as a fault of the kernel. */
export function faultOfAnswer({ status, headers, body }: Failed, wallNow: number): FaultError {
  const problem = readProblem(body);
  const { limits: told, retryAfterMs } = parseServerHints({ status, headers }, wallNow);
  if (status < 400) return unreadable();
  // The server was tired of waiting for our request, so it did not work on it.
  if (status === 408) {
    return new FaultError({ kind: 'timeout', sent: 'answered', clock: 'upstream', status });
  }
  const refusal = refusalOf(status, problem);
  const limits = refusal === 'rate_limited' ? heldBack(told, retryAfterMs, wallNow) : told;
  const about = limits.length > 0 ? { status, limits } : { status };
  const cause = new UpstreamProblem(refusal, problem);
  const kind = kinds[refusal] ?? 'rejected';
  const fault: Fault = { kind, sent: 'answered', ...about, cause };
  // The windows beside a cap are not what was used up: their resets would be bad advice.
  if (refusal === 'usage_cap') return new FaultError({ ...fault, final: true });
  const waits = kind === 'rate_limited' || kind === 'server';
  return new FaultError(waits && retryAfterMs !== undefined ? { ...fault, retryAfterMs } : fault);
}

/** The one thing that was asked for is missing from a success, and its `errors` say why. */
export function faultOfMissing(problem: Problem): FaultError {
  const refusal = refusalOf(200, problem);
  const cause = new UpstreamProblem(refusal, problem);
  const kind = refusal === 'server_error' ? 'server' : 'rejected';
  return new FaultError({ kind, sent: 'answered', cause });
}

export function unreadable(): FaultError {
  const cause = new UpstreamProblem();
  return new FaultError({ kind: 'bad_response', sent: 'answered', cause });
}
