import type { SDKAssistantMessageError, SDKRateLimitInfo } from '@anthropic-ai/claude-agent-sdk';
import type { Fault } from '@toolkeel/kernel';
import { ProviderFault, type ProviderErrorCode } from '../core/errors.js';
import { notConfigured } from '../core/provider.js';
import { oneLine } from '@toolkeel/pack-kit/base';

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

const byError: Readonly<Record<SDKAssistantMessageError, Judgement | undefined>> = {
  authentication_failed: ['auth', { kind: 'auth' }],
  oauth_org_not_allowed: ['auth', { kind: 'auth' }],
  account_on_hold: ['auth', { kind: 'auth' }],
  verification_required: ['auth', { kind: 'auth' }],
  cloud_credential_error: ['auth', { kind: 'auth' }],
  billing_error: ['billing', { kind: 'rejected', final: true }],
  rate_limit: ['rate_limited', { kind: 'rate_limited' }],
  overloaded: ['overloaded', { kind: 'server' }],
  invalid_request: ['invalid_request', { kind: 'rejected' }],
  model_not_found: ['invalid_request', { kind: 'rejected' }],
  server_error: ['server_error', { kind: 'server' }],
  max_output_tokens: ['invalid_request', { kind: 'rejected' }],
  unknown: undefined,
};

/** The fault of a turn that ended with an error result, by the CLI's typed fields only. */
export function faultOfTurn(failure: TurnFailure, wallNow: number): ProviderFault {
  const { status, limit, requestId } = failure;
  const [code, fault] = judge(failure);
  const retryAfterMs = code === 'rate_limited' ? waitOf(limit, wallNow) : undefined;
  const said = oneLine(failure.text ?? '', 300);
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

function judge({ error, status, limit }: TurnFailure): Judgement {
  if (
    limit?.errorCode === 'credits_required' ||
    limit?.overageDisabledReason === 'out_of_credits'
  ) {
    return ['billing', { kind: 'rejected', final: true }];
  }
  if (limit?.status === 'rejected') return ['rate_limited', { kind: 'rate_limited' }];
  // The status is more precise where both are known: a 503 is also reported as `server_error`.
  const isRefusal = status !== undefined && status >= 400 && status < 500;
  return (
    (status !== undefined ? byStatus(status) : undefined) ??
    (error && byError[error]) ??
    (isRefusal ? ['invalid_request', { kind: 'rejected' }] : ['server_error', { kind: 'server' }])
  );
}

function byStatus(status: number): Judgement | undefined {
  if (status === 429) return ['rate_limited', { kind: 'rate_limited' }];
  if (status === 529) return ['overloaded', { kind: 'server' }];
  if (status === 402) return ['billing', { kind: 'rejected', final: true }];
  if (status === 401) return ['auth', { kind: 'auth' }];
  if (status === 408) return ['timeout', { kind: 'timeout' }];
  if (status === 409 || status >= 500) return ['server_error', { kind: 'server' }];
  return undefined;
}

/** The time until the limit of a plan resets. */
function waitOf(limit: SDKRateLimitInfo | undefined, wallNow: number): number | undefined {
  const resetsAt = limit?.resetsAt;
  if (resetsAt === undefined || !(resetsAt > 0 && resetsAt < 1e11)) return undefined;
  return Math.max(0, Math.ceil(resetsAt * 1000 - wallNow));
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
    `The Claude CLI failed (${exit})`,
    { kind: 'network', sent: 'maybe' },
    { cause },
  );
}

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
