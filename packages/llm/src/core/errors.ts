import type { TextModelError } from '@toolkeel/contract';
import { classifyError, type Fault, type FaultKind } from '@toolkeel/kernel';

/** Why a request to a provider failed. */
export type ProviderErrorCode =
  | 'timeout' // `clock` names the timeout
  | 'rate_limited'
  | 'quota_exhausted' // a quota per day: waiting does not help
  | 'billing'
  | 'overloaded' // the provider's 529
  | 'server_error'
  | 'network'
  | 'connect'
  | 'incomplete_stream' // the stream ended without its finish mark
  | 'bad_response'
  | 'process_exited' // the Claude CLI ended without a result
  | 'auth'
  | 'invalid_request'
  | 'blocked' // the provider refuses the content
  | 'unsupported' // the provider cannot do what the request asks for
  | 'not_configured'
  | 'cooling_down' // not sent: the provider asked to wait
  | 'circuit_open'
  | 'busy' // too many requests wait for this provider here
  | 'cancelled'
  | 'internal';

/** How far an attempt got. `backoff`: no attempt was in flight. */
export type Phase = 'queued' | 'connect' | 'headers' | 'first_content' | 'stream' | 'backoff';

/** What an adapter throws: a fault, and the code that tells it apart from others of its kind. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';
  readonly fault: Fault;
  readonly code: ProviderErrorCode;
  readonly requestId: string | undefined;

  constructor(
    code: ProviderErrorCode,
    message: string,
    fault: Fault,
    options: { readonly requestId?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.fault = { ...fault, cause: this };
    this.requestId = options.requestId;
  }
}

/** The fault of what an adapter threw. */
export function classify(cause: unknown): Fault {
  return cause instanceof ProviderFault ? cause.fault : classifyError(cause);
}

const codeOfKind: Readonly<Record<FaultKind, ProviderErrorCode>> = {
  connect: 'connect',
  network: 'network',
  timeout: 'timeout',
  rate_limited: 'rate_limited',
  server: 'server_error',
  auth: 'auth',
  rejected: 'invalid_request',
  bad_response: 'bad_response',
  cancelled: 'cancelled',
  circuit_open: 'circuit_open',
  overloaded: 'busy',
  unexpected: 'internal',
};

export function codeOf(fault: Fault): ProviderErrorCode {
  if (fault.cause instanceof ProviderFault) return fault.cause.code;
  if (fault.kind === 'rate_limited' && fault.final) return 'quota_exhausted';
  if (fault.status === 529) return 'overloaded';
  return codeOfKind[fault.kind];
}

/** Faults that a later or a repeated request may not have. */
const transient: ReadonlySet<FaultKind> = new Set([
  'connect',
  'network',
  'timeout',
  'rate_limited',
  'server',
  'circuit_open',
  'overloaded',
] satisfies FaultKind[]);

const messages: Partial<Record<ProviderErrorCode, string>> = {
  rate_limited: 'limits the rate of requests',
  quota_exhausted: 'rejected the request',
  overloaded: 'is overloaded',
  server_error: 'failed',
  network: 'closed the connection',
  connect: 'could not be reached',
  auth: 'does not accept the credential',
  invalid_request: 'rejected the request as invalid',
  circuit_open: 'keeps failing, so requests to it are paused',
  cancelled: 'was not awaited: the caller cancelled the request',
  internal: 'adapter failed unexpectedly',
};

/** The name of each timeout in messages. */
const clockNames: Readonly<Record<string, string>> = {
  connect: 'could not be reached',
  headers: 'did not begin to respond',
  first_content: 'sent no content',
  byte_idle: 'sent no bytes',
  content_idle: 'sent no further content',
  total: 'did not finish the attempt',
  deadline: 'did not answer before the deadline of the call',
};

export interface FailureFacts {
  readonly provider: string;
  readonly phase: Phase;
  readonly attempts: number;
  readonly partialText: string;
  /** The duration of the timeout that fired. */
  readonly timeoutMs?: number | undefined;
}

/** The error of a failed request: thrown by `complete`, the last event of `stream`. */
export class ProviderError extends Error implements TextModelError {
  override readonly name = 'ProviderError';
  readonly fault: Fault;
  readonly provider: string;
  readonly code: ProviderErrorCode;
  readonly phase: Phase;
  readonly retriable: boolean;
  readonly attempts: number;
  readonly partialText: string;
  declare readonly status?: number;
  declare readonly clock?: string;
  declare readonly retryAfterMs?: number;
  declare readonly requestId?: string;

  constructor(fault: Fault, facts: FailureFacts) {
    super(describe(fault, facts), fault.cause === undefined ? undefined : { cause: fault.cause });
    this.fault = fault;
    this.code = codeOf(fault);
    this.provider = facts.provider;
    this.phase = facts.phase;
    this.attempts = facts.attempts;
    this.partialText = facts.partialText;
    this.retriable = transient.has(fault.kind) && fault.final !== true;
    const requestId = fault.cause instanceof ProviderFault ? fault.cause.requestId : undefined;
    const { status, clock, retryAfterMs } = fault;
    // Absent rather than undefined, so that a logged or serialized error stays short.
    Object.assign(this, {
      ...(status !== undefined && { status }),
      ...(clock !== undefined && { clock }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(requestId !== undefined && { requestId }),
    });
  }

  /** The facts without causes, which may be large, circular or private. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, message, provider, code, phase, retriable, attempts, partialText } = this;
    const { status, clock, retryAfterMs, requestId } = this;
    const optional = { status, clock, retryAfterMs, requestId };
    return { name, message, provider, code, phase, retriable, attempts, ...optional, partialText };
  }
}

function describe(fault: Fault, { provider, attempts, timeoutMs }: FailureFacts): string {
  const { clock, retryAfterMs, status, cause } = fault;
  const code = codeOf(fault);
  // The deadline of a call is its caller's; its length says nothing about the provider.
  const within =
    timeoutMs === undefined || clock === 'deadline' ? '' : ` within ${seconds(timeoutMs)}`;
  const what =
    fault.kind === 'timeout' && clock !== undefined
      ? `${provider} ${clockNames[clock] ?? 'did not answer'}${within}`
      : cause instanceof ProviderFault && cause.message !== ''
        ? cause.message
        : `${provider} ${messages[code] ?? 'failed'}`;
  const http = status === undefined ? '' : ` (HTTP ${status})`;
  const tries = attempts > 1 ? ` after ${attempts} attempts` : '';
  const wait = retryAfterMs === undefined ? '' : ` Try again in ${seconds(retryAfterMs)}.`;
  const day = code === 'quota_exhausted' ? ` ${NO_QUOTA}` : '';
  return `${what}${http}${tries}.${day}${wait}`;
}

const NO_QUOTA = 'The quota of the day is used up; waiting for minutes does not help.';

const seconds = (ms: number): string => `${Math.ceil(ms / 100) / 10} s`;
