import type { Effect, Fault, FaultKind, RateLimitInfo } from '@toolkeel/kernel';
import type { FailureOutcome } from '../codes/table.js';
import { isoMoment } from '../envelope/error.js';
import { ownMember } from '../json.js';
import { toolError, type ToolError } from '../tool/result.js';

const status = ({ status: given }: Fault) => (given === undefined ? {} : { status: given });

const NO_ANSWER = 'The upstream did not answer in time. Try again later.';
const TIME_IS_UP = 'The time for this call was up before it was done. Try again later.';
const PAUSE = 'The upstream asks for a pause. Wait before the next call.';
const USED_UP =
  'The quota at the upstream is used up for now. A short pause does not help: go on without it, or ask the operator.';

/** The default reading of the kernel's faults. A pack that knows its upstream better overrides it. */
const table = {
  connect: unavailable,
  network: unavailable,
  server: (fault) => {
    // "Not implemented" and "version not supported" stay so, however often they are asked.
    if (fault.status !== 501 && fault.status !== 505) return unavailable(fault);
    return rejected(fault);
  },
  // An answer that nobody can read says nothing against the request, so later is worth a try.
  bad_response: unavailable,
  timeout: ({ clock = 'attempt' }) =>
    toolError('timeout', clock === 'deadline' ? TIME_IS_UP : NO_ANSWER, { details: { clock } }),
  rate_limited: ({ retryAfterMs, limits, final }) => {
    const rateLimitReset = resetOf(limits);
    // A wait of seconds beside a day's quota belongs to another window: it would be bad advice.
    if (final) return toolError('rate_limited', USED_UP, { rateLimitReset, details: { final } });
    return toolError('rate_limited', PAUSE, { retryAfterMs, rateLimitReset });
  },
  auth: (fault) =>
    toolError('unauthorized', 'The upstream did not accept our credential. Ask the operator.', {
      details: status(fault),
    }),
  rejected: (fault) => {
    if (fault.status === 404 || fault.status === 410) {
      return toolError('not_found', 'The upstream does not have what was asked for.');
    }
    if (fault.status === 403) {
      return toolError('forbidden', 'The upstream does not allow this.', {
        details: status(fault),
      });
    }
    return rejected(fault);
  },
  cancelled: () => toolError('cancelled', 'The call was cancelled.'),
  circuit_open: ({ retryAfterMs }) =>
    toolError('circuit_open', 'The upstream has been failing. Calls to it are paused.', {
      retryAfterMs,
    }),
  overloaded: ({ retryAfterMs }) =>
    toolError('overloaded', 'Too many calls are waiting already. Try again in a moment.', {
      retryAfterMs,
    }),
  unexpected: () => undefined,
} satisfies Record<FaultKind, (fault: Fault) => ToolError | undefined>;

/** The tool error for a fault; undefined for one that nobody foresaw. */
export function faultToError(fault: Fault): ToolError | undefined {
  // A kernel that is newer than we are may know kinds that we do not.
  if (!Object.hasOwn(table, fault.kind)) return undefined;
  const read: (fault: Fault) => ToolError | undefined = table[fault.kind];
  return read(plausible(fault));
}

/** A fault comes from the outside world: a figure that makes no sense is left out of the answer. */
function plausible({ kind, sent, final, ...given }: Fault): Fault {
  const { status: code = 0, clock, retryAfterMs = -1, limits } = given;
  return {
    kind,
    sent,
    ...(Number.isInteger(code) && code >= 100 && code <= 999 && { status: code }),
    ...(typeof clock === 'string' && { clock }),
    ...(Number.isFinite(retryAfterMs) && retryAfterMs >= 0 && { retryAfterMs }),
    ...(Array.isArray(limits) && { limits }),
    ...(final === true && { final }),
  };
}

function unavailable(fault: Fault) {
  return toolError('upstream_unavailable', 'The upstream cannot be used now. Try again later.', {
    retryAfterMs: fault.retryAfterMs,
    details: status(fault),
  });
}

function rejected(fault: Fault) {
  return toolError('upstream_rejected', 'The upstream refused the request as it was made.', {
    details: status(fault),
  });
}

const REFUSALS: ReadonlySet<FaultKind> = new Set(['rate_limited', 'auth', 'rejected']);

/**
 * What a fault lets us say about a mutation. A clear refusal was not carried out; silence may have
 * been. A refusal that is `maybe` sent followed an attempt that nobody knows the end of.
 */
export function outcomeOfFault(effect: Effect, fault: Fault): FailureOutcome | undefined {
  if (effect === 'read') return undefined;
  const wasRefused = fault.sent === 'answered' && REFUSALS.has(fault.kind);
  return fault.sent === 'no' || wasRefused ? 'not_executed' : 'unknown';
}

/** When the last exhausted window opens again. */
function resetOf(limits: readonly RateLimitInfo[] = []): string | undefined {
  const resets = limits.filter(({ remaining }) => remaining <= 0).map(({ reset }) => reset);
  return isoMoment(new Date(Math.max(...resets) * 1000));
}

/** The fault that a thrown value carries. Looked at by shape: there may be two kernels in a process. */
export function faultOf(thrown: unknown): Fault | undefined {
  const fault = ownMember(thrown, 'fault');
  return isFault(fault) ? fault : undefined;
}

function isFault(value: unknown): value is Fault {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    typeof value.kind === 'string' &&
    Object.hasOwn(table, value.kind) &&
    'sent' in value &&
    (value.sent === 'no' || value.sent === 'maybe' || value.sent === 'answered')
  );
}
