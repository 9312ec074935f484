import type { Effect, Fault, FaultKind, RateLimitInfo } from '@toolkeel/kernel';
import type { FailureOutcome } from '../codes/table.js';
import { isoTime } from '../envelope/error.js';
import { ownMember } from '../json.js';
import { toolError, type ToolError } from '../tool/result.js';

const status = ({ status: given }: Fault) => (given === undefined ? {} : { status: given });

const NO_RESPONSE = 'The upstream did not respond in time. Try again later.';
const DEADLINE_REACHED = 'The call reached its deadline. Try again later.';
const RATE_LIMITED = 'The upstream is rate limiting. Wait before the next call.';
const QUOTA_EXHAUSTED =
  'The upstream quota is exhausted. A short wait does not help: continue without it, or ask the operator.';

/** The default mapping of faults to error codes. A tool can override it with `faultToError`. */
const table = {
  connect: unavailable,
  network: unavailable,
  server: (fault) => {
    // 501 Not Implemented and 505 Version Not Supported are permanent.
    if (fault.status !== 501 && fault.status !== 505) return unavailable(fault);
    return rejected(fault);
  },
  // An unreadable response does not mean that the request is invalid, so a later retry may succeed.
  bad_response: unavailable,
  timeout: ({ clock = 'attempt' }) =>
    toolError('timeout', clock === 'deadline' ? DEADLINE_REACHED : NO_RESPONSE, {
      details: { clock },
    }),
  rate_limited: ({ retryAfterMs, limits, final }) => {
    const rateLimitReset = resetOf(limits);
    // A delay of seconds with an exhausted daily quota belongs to another window.
    if (final)
      return toolError('rate_limited', QUOTA_EXHAUSTED, { rateLimitReset, details: { final } });
    return toolError('rate_limited', RATE_LIMITED, { retryAfterMs, rateLimitReset });
  },
  auth: (fault) =>
    toolError('unauthorized', 'The upstream rejected the credential. Ask the operator.', {
      details: status(fault),
    }),
  rejected: (fault) => {
    if (fault.status === 404 || fault.status === 410) {
      return toolError('not_found', 'The upstream does not have the requested resource.');
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
    toolError('circuit_open', 'The upstream keeps failing. Calls to it are paused.', {
      retryAfterMs,
    }),
  overloaded: ({ retryAfterMs }) =>
    toolError('overloaded', 'Too many calls are queued. Try again in a moment.', {
      retryAfterMs,
    }),
  unexpected: () => undefined,
} satisfies Record<FaultKind, (fault: Fault) => ToolError | undefined>;

/** The tool error for a fault; undefined for an unexpected one. */
export function faultToError(fault: Fault): ToolError | undefined {
  // A newer kernel may have kinds that are unknown here.
  if (!Object.hasOwn(table, fault.kind)) return undefined;
  const read: (fault: Fault) => ToolError | undefined = table[fault.kind];
  return read(sanitize(fault));
}

/** Drops invalid figures of a fault, which come from the upstream. */
function sanitize({ kind, sent, final, ...given }: Fault): Fault {
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
  return toolError('upstream_unavailable', 'The upstream is unavailable. Try again later.', {
    retryAfterMs: fault.retryAfterMs,
    details: status(fault),
  });
}

function rejected(fault: Fault) {
  return toolError('upstream_rejected', 'The upstream rejected the request.', {
    details: status(fault),
  });
}

const REJECTIONS: ReadonlySet<FaultKind> = new Set(['rate_limited', 'auth', 'rejected']);

/**
 * The outcome of a mutation that failed with this fault. A rejection was not executed, unless an
 * earlier attempt (`sent: 'maybe'`) has an unknown outcome.
 */
export function outcomeOfFault(effect: Effect, fault: Fault): FailureOutcome | undefined {
  if (effect === 'read') return undefined;
  const wasRejected = fault.sent === 'answered' && REJECTIONS.has(fault.kind);
  return fault.sent === 'no' || wasRejected ? 'not_executed' : 'unknown';
}

/** The latest reset of the exhausted windows. */
function resetOf(limits: readonly RateLimitInfo[] = []): string | undefined {
  const resets = limits.filter(({ remaining }) => remaining <= 0).map(({ reset }) => reset);
  return isoTime(new Date(Math.max(...resets) * 1000));
}

/** The fault of a thrown value. Recognised by shape, because a process may contain two kernels. */
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
