import { toolError, type ToolError } from '@toolkeel/contract';
import type { ProviderError } from '../core/errors.js';
import type { LlmCode } from './specs.js';

/** The tool error of a failed request. An agent may repeat only what can succeed then. */
export function toolErrorOf(error: ProviderError): ToolError<LlmCode, null> {
  const { code, message, provider, status, clock, retryAfterMs } = error;
  const refusal = { reason: code, ...(status !== undefined && { status }) };
  switch (code) {
    case 'not_configured':
      return toolError('llm_not_configured', message);
    case 'auth':
      return toolError('unauthorized', message, { details: refusal });
    case 'billing':
    case 'invalid_request':
    case 'blocked':
      return toolError('upstream_rejected', message, { details: refusal });
    case 'unsupported':
      return toolError('unsupported_by_upstream', message);
    case 'quota_exhausted':
      return toolError('rate_limited', message, { details: { scope: 'day', final: true } });
    default:
      return toolError('llm_error', message, {
        retryAfterMs,
        details: {
          provider,
          ...(clock !== undefined && { clock }),
          ...(status !== undefined && { status }),
        },
      });
  }
}

export const nothingConfigured = (): ToolError<'llm_not_configured', null> =>
  toolError(
    'llm_not_configured',
    'No language model is configured. Install the Claude CLI and log in, or set TOOLKEEL_GEMINI_API_KEY.',
  );
