import { toolError, type ErrorCode, type TextModelError, type ToolError } from '@toolkeel/contract';

/** Error codes of the tools that ask a language model, beside the codes that all tools share. */
export const modelCodes = Object.freeze([
  'llm_error',
  'llm_not_configured',
  'upstream_rejected',
  'rate_limited',
  'unauthorized',
  'unsupported_by_upstream',
] as const satisfies readonly ErrorCode[]);

type ModelCode = (typeof modelCodes)[number];

/** By its shape: the error comes from another pack. */
export function isModelError(cause: unknown): cause is TextModelError {
  return (
    cause instanceof Error && 'fault' in cause && 'provider' in cause && 'partialText' in cause
  );
}

/** The tool error of a failed request to a model. An agent may repeat only what can succeed then. */
export function modelErrorToToolError(error: TextModelError): ToolError<ModelCode, null> {
  const { code, message, provider, status, clock, retryAfterMs } = error;
  const refusal = { reason: code, ...(status !== undefined && { status }) };
  switch (code) {
    case 'not_configured':
      // The host's stand-in for a missing model has no provider and no advice.
      return provider === 'none' ? modelNotConfigured() : toolError('llm_not_configured', message);
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

/** `isServed`: the llm pack itself says so. */
export const modelNotConfigured = (isServed = false): ToolError<'llm_not_configured', null> =>
  toolError(
    'llm_not_configured',
    `No language model is configured. ${isServed ? 'Install' : 'Serve the llm pack too; install'} the Claude CLI and log in, or set TOOLKEEL_GEMINI_API_KEY.`,
  );
