import { FaultError, parseServerHints, type Fault, type FaultKind } from '@toolkeel/kernel';
import {
  compact,
  objectOf,
  withRetryAfter,
  type FailedResponse,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { PartialError } from '../model.js';
import {
  type Problem,
  readPartialProblems,
  readProblem,
  type Refusal,
  refusalOf,
} from './problem.js';

/** A failure that X reported, or an unreadable response. */
export class UpstreamProblem extends Error {
  override readonly name = 'UpstreamProblem';
  readonly refusal: Refusal | undefined;
  readonly problem: Problem | undefined;

  constructor(refusal?: Refusal, problem?: Problem) {
    super(refusal ?? 'unreadable response');
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

/** The fault of a response with an error status. */
export function faultOfResponse(
  { status, headers, json }: Pick<FailedResponse, 'status' | 'headers' | 'json'>,
  _request: unknown,
  wallNow: number,
): Fault {
  const problem = readProblem(json);
  const { limits: reported, retryAfterMs } = parseServerHints({ status, headers }, wallNow);
  if (status < 400) return unreadableResponse().fault;
  // The server timed out waiting for the request, so it did not execute it.
  if (status === 408) {
    return { kind: 'timeout', sent: 'answered', clock: 'upstream', status };
  }
  const refusal = refusalOf(status, problem);
  const limits =
    refusal === 'rate_limited' ? withRetryAfter(reported, retryAfterMs, wallNow) : reported;
  const about = limits.length > 0 ? { status, limits } : { status };
  const cause = new UpstreamProblem(refusal, problem);
  const kind = kinds[refusal] ?? 'rejected';
  const fault: Fault = { kind, sent: 'answered', ...about, cause };
  // The rate-limit windows beside a usage cap are not exhausted, so their resets would mislead.
  if (refusal === 'usage_cap') return { ...fault, final: true };
  const waits = kind === 'rate_limited' || kind === 'server';
  return waits && retryAfterMs !== undefined ? { ...fault, retryAfterMs } : fault;
}

/** The fault of a success that has `errors` in place of the requested item. */
export function faultOfPartialError(problem: Problem): FaultError {
  const refusal = refusalOf(200, problem);
  const cause = new UpstreamProblem(refusal, problem);
  const kind = refusal === 'server_error' ? 'server' : 'rejected';
  return new FaultError({ kind, sent: 'answered', cause });
}

export function unreadableResponse(): FaultError {
  const cause = new UpstreamProblem();
  return new FaultError({ kind: 'bad_response', sent: 'answered', cause });
}

/** An entry of the `errors` of a success, for the response. */
export function partialError(problem: Problem): PartialError {
  return compact({
    reason: problem.type ?? refusalOf(200, problem),
    resource_type: problem.resourceType,
    resource_id: problem.resourceId,
    parameter: problem.parameter,
    message: problem.summary,
  });
}

export function partialErrorsIn(doc: JsonObject): {
  readonly partial_errors?: readonly PartialError[];
} {
  const problems = readPartialProblems(doc);
  return problems.length === 0 ? {} : { partial_errors: problems.map(partialError) };
}

/** The `data` of a success. Throws the first of its `errors` if there is none. */
export function dataIn(doc: JsonObject, presence: 'required' | 'optional'): JsonObject {
  const data = objectOf(doc['data']);
  if (data) return data;
  const [problem] = readPartialProblems(doc);
  if (problem) throw faultOfPartialError(problem);
  if (presence === 'required') throw unreadableResponse();
  return {};
}
