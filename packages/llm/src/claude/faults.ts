import type { SDKAssistantMessageError, SDKRateLimitInfo } from '@anthropic-ai/claude-agent-sdk';
import type { Fault } from '@toolkeel/kernel';
import { ProviderFault, type ProviderErrorCode } from '../core/errors.js';
import { notConfigured } from '../core/provider.js';
import { numberOf, oneLine, type Redactor } from '@toolkeel/pack-kit/base';

export const CLAUDE = 'claude';

/** What the CLI reported about a failed turn. */
export interface TurnFailure {
  readonly error?: SDKAssistantMessageError | undefined;
  readonly status?: number | undefined;
  /** The CLI's text for a person. Only shown, never interpreted. */
  readonly text?: string | undefined;
  readonly limit?: SDKRateLimitInfo | undefined;
  readonly requestId?: string | undefined;
}

type Judgement = readonly [ProviderErrorCode, Omit<Fault, 'sent' | 'status'>];

const billing: Judgement = ['billing', { kind: 'rejected', final: true }];
const rateLimited: Judgement = ['rate_limited', { kind: 'rate_limited' }];

const byError: Readonly<Record<SDKAssistantMessageError, Judgement | undefined>> = {
  authentication_failed: ['auth', { kind: 'auth' }],
  oauth_org_not_allowed: ['auth', { kind: 'auth' }],
  account_on_hold: ['auth', { kind: 'auth' }],
  verification_required: ['auth', { kind: 'auth' }],
  cloud_credential_error: ['auth', { kind: 'auth' }],
  billing_error: billing,
  rate_limit: rateLimited,
  overloaded: ['overloaded', { kind: 'server' }],
  invalid_request: ['invalid_request', { kind: 'rejected' }],
  model_not_found: ['invalid_request', { kind: 'rejected' }],
  server_error: ['server_error', { kind: 'server' }],
  max_output_tokens: ['invalid_request', { kind: 'rejected' }],
  unknown: undefined,
};

/** The fault of a turn that ended with an error result, by the CLI's typed fields only. */
export function faultOfTurn(
  failure: TurnFailure,
  wallNow: number,
  secrets: Redactor,
): ProviderFault {
  const { status, requestId } = failure;
  const rejection = rejectionOf(failure);
  const retryAfterMs = waitOf(rejection, wallNow);
  const needsCredits = rejection?.errorCode === 'credits_required' && retryAfterMs === undefined;
  const [code, fault] = needsCredits ? billing : rejection ? rateLimited : judge(failure);
  const said = oneLine(secrets.redact(failure.text ?? ''), 300);
  const advice = code === 'auth' ? ' Log in with the Claude CLI: run `claude`, then /login' : '';
  return new ProviderFault(
    code,
    said === '' ? '' : `Claude says: ${said}.${advice}`.replace(/\.$/, ''),
    {
      sent: 'answered',
      ...fault,
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    { requestId },
  );
}

/**
 * The limit of the plan, if it is why the turn failed. The CLI reports the state of the plan on other turns
 * too, also that extra credits are used up or disabled, which rejects nothing by itself.
 */
function rejectionOf({ error, status, limit }: TurnFailure): SDKRateLimitInfo | undefined {
  const isLimit = status === undefined ? !error || isLimitError(error) : status === 429;
  return isLimit && limit?.status === 'rejected' ? limit : undefined;
}

const isLimitError = (error: SDKAssistantMessageError): boolean =>
  error === 'rate_limit' || error === 'unknown';

function judge({ error, status }: TurnFailure): Judgement {
  // The status is more precise where both are known: a 503 is also reported as `server_error`.
  const isRefusal = status !== undefined && status >= 400 && status < 500;
  return (
    (status !== undefined ? byStatus(status) : undefined) ??
    (error && byError[error]) ??
    (isRefusal ? ['invalid_request', { kind: 'rejected' }] : ['server_error', { kind: 'server' }])
  );
}

function byStatus(status: number): Judgement | undefined {
  if (status === 429) return rateLimited;
  if (status === 529) return ['overloaded', { kind: 'server' }];
  if (status === 402) return billing;
  if (status === 401 || status === 403) return ['auth', { kind: 'auth' }];
  if (status === 408) return ['timeout', { kind: 'timeout' }];
  if (status === 409 || status >= 500) return ['server_error', { kind: 'server' }];
  return undefined;
}

/** The longest window of a plan is a week. */
const MAX_PLAN_WAIT_MS = 8 * 24 * 3_600_000;

/** The time until the limit of a plan resets. A reset in the past or beyond any plan is none. */
function waitOf(limit: SDKRateLimitInfo | undefined, wallNow: number): number | undefined {
  const waitMs = Math.ceil((numberOf(limit?.resetsAt) ?? 0) * 1000 - wallNow);
  return waitMs > 0 && waitMs <= MAX_PLAN_WAIT_MS ? waitMs : undefined;
}

export function incomplete(exit: string, requestId?: string): ProviderFault {
  return new ProviderFault(
    'incomplete_stream',
    `The Claude CLI ended without a result (${exit})`,
    { kind: 'network', sent: 'maybe' },
    { requestId },
  );
}

export function processExited(exit: string, cause: unknown): ProviderFault {
  return new ProviderFault(
    'process_exited',
    `The Claude CLI failed (${exit}). Run \`claude -p hello\` to see why`,
    { kind: 'network', sent: 'maybe' },
    { cause },
  );
}

/** The system cannot run the file: it is for another platform, for example. */
const unusable: readonly string[] = ['EACCES', 'ENOENT', 'ENOEXEC', 'ENOTDIR', 'EPERM'];

export function cannotStart(cli: string, failure: NodeJS.ErrnoException): ProviderFault {
  const { code = failure.message } = failure;
  // Otherwise the system lacks memory or processes for the moment.
  if (!unusable.includes(code)) return processExited(`not started: ${code}`, failure);
  return notConfigured(
    `The Claude CLI at ${cli} cannot be started (${code}). Install it again, or set TOOLKEEL_CLAUDE_PATH`,
    failure,
  );
}

export const badMessage = (cause: unknown): ProviderFault =>
  new ProviderFault(
    'bad_response',
    'The Claude CLI sent a message that is not of its format',
    { kind: 'server', sent: 'answered' },
    { cause },
  );

/** The model may keep to the schema next time, so this is retried. */
export const unstructured = (said: string, requestId: string | undefined): ProviderFault =>
  new ProviderFault(
    'bad_response',
    `Claude did not answer in the requested JSON. Claude says: ${oneLine(said, 300)}`.replace(
      /\.$/,
      '',
    ),
    { kind: 'server', sent: 'answered' },
    { requestId },
  );

/** Not a matter of configuration: other requests can be passed, and other providers may take this one. */
export const notPassable = (cause: unknown): ProviderFault =>
  new ProviderFault(
    'unsupported',
    'The request cannot be passed to the Claude CLI. Shorten its schema, and check the name of its model',
    { kind: 'rejected', sent: 'no' },
    { cause },
  );

export const busy = (): ProviderFault =>
  new ProviderFault('busy', 'Too many requests wait for the Claude CLI', {
    kind: 'overloaded',
    sent: 'no',
  });

export const sdkMissing = (cause: unknown): ProviderFault =>
  notConfigured(
    'Claude needs the package @anthropic-ai/claude-agent-sdk. Install it: npm install @anthropic-ai/claude-agent-sdk',
    cause,
  );
