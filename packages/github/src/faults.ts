import {
  faultToError as contractFaultToError,
  toolError,
  type ToolError,
} from '@toolkeel/contract';
import type { Fault } from '@toolkeel/kernel';
import { faultToError as baseFaultToError, latestReset } from '@toolkeel/pack-kit';
import { CONFLICT } from './codes.js';
import { githubErrorOf } from './client/faults.js';
import { PacingError } from './client/limits.js';

/** Maps faults of GitHub; pack-kit's and the contract's mappings apply to all others. */
export function faultToError(fault: Fault): ToolError | undefined {
  const { kind, status } = fault;
  if (kind === 'rate_limited') return limitError(fault);
  const error = githubErrorOf(fault);
  if (!error) return baseFaultToError(fault) ?? contractFaultToError(fault);
  const reason = error.reason ?? `status ${error.status}`;
  const details = { ...(status !== undefined && { status }), reason };
  if (kind === 'auth') {
    const message = `GitHub rejected the credential: ${reason}. Ask the operator for a valid one.`;
    return toolError('unauthorized', message, { details });
  }
  if (kind !== 'rejected') return baseFaultToError(fault) ?? contractFaultToError(fault);
  if (status === 404 || status === 410) {
    const message = `GitHub does not have it, or the credential may not see it: ${reason}`;
    return toolError('not_found', message);
  }
  if (status === 403 || status === 451) {
    const needs =
      error.permissions === undefined ? '' : ` The token needs one of: ${error.permissions}.`;
    return toolError('forbidden', `GitHub does not allow this: ${reason}.${needs}`, { details });
  }
  if (status !== undefined && status < 400) {
    const message =
      'The repository was renamed or moved. Use its new name, see github_get_context.';
    return toolError('upstream_rejected', message, { details });
  }
  return toolError('upstream_rejected', `GitHub rejected the request: ${reason}`, { details });
}

function limitError(fault: Fault): ToolError {
  const { retryAfterMs, limits = [], cause } = fault;
  if (cause instanceof PacingError) return pacingError(cause, retryAfterMs);
  const kind = githubErrorOf(fault)?.limit;
  const scope = kind ?? limits.find(({ remaining }) => remaining <= 0)?.name;
  const rateLimitReset =
    latestReset(limits) ??
    (retryAfterMs === undefined ? undefined : new Date(Date.now() + retryAfterMs));
  const message =
    kind === 'secondary'
      ? 'GitHub reports a secondary rate limit. Wait before the next call; further calls are held back until then.'
      : 'The rate limit of GitHub is reached. Wait until the reset; github_rate_limit_status is free.';
  return toolError('rate_limited', message, {
    retryAfterMs,
    rateLimitReset,
    ...(scope !== undefined && { details: { scope } }),
  });
}

/** Not GitHub's limit but our own pace, which the operator can change. */
function pacingError({ setting }: PacingError, retryAfterMs: number | undefined): ToolError {
  const name = `packs.github.pacing.${setting}`;
  const message = `Not sent: this server keeps GitHub's documented pace (${name}), and the next free time is after the deadline of this call. GitHub has not refused anything. Wait, or make fewer calls at a time.`;
  return toolError('rate_limited', message, { retryAfterMs, details: { scope: 'pacing' } });
}

/** Something moved meanwhile: nothing was done. */
export const conflict = (message: string, details: Readonly<Record<string, unknown>> = {}) =>
  toolError(CONFLICT, message, { outcome: 'not_executed', details });
