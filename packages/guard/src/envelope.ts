import {
  envelopeSchema,
  errorEnvelope,
  faultToError,
  outputJsonSchema,
  type Envelope,
  type ErrorInput,
  type Meta,
} from '@toolkeel/contract';
import { callToolResult } from '@toolkeel/host/parts';
import type { Fault } from '@toolkeel/kernel';
import { compileSchema, type CheckArguments } from './arguments.js';
import type { ListedTool } from './effects.js';
import { isObject, objectIn, type Message } from './frame.js';
import { contentOf, isSameJson, textOf } from './result-budget.js';

type Members = Readonly<Record<string, unknown>>;

/** What the contract says about a call of the upstream. */
interface CallFacts {
  readonly meta: Meta;
  readonly isMutation: boolean;
  /** What the error of the upstream means, if it is one that is recognised. */
  readonly fault: Fault | undefined;
  /** Writes a part of the result, or what was made from it, as JSON. */
  readonly write: (value: unknown) => string;
}

/** Data of a tool that does not describe its results. */
const UNTYPED: Members = Object.freeze({
  type: 'object',
  properties: { content: { type: 'array', items: { type: 'object' } }, structured: {} },
});

/** The results of one tool as envelopes of the contract. */
export interface ToolEnvelopes {
  readonly outputSchema: Members;
  readonly wrap: (result: Members, facts: CallFacts) => Members;
}

/** `isTyped` is false for a tool whose results may be cut: they cannot keep to a schema of the server. */
export function toolEnvelopes({ outputSchema }: ListedTool, isTyped: boolean): ToolEnvelopes {
  // A server that already speaks the contract is passed on.
  if (outputSchema && isEnvelopeSchema(outputSchema)) {
    return { outputSchema, wrap: (result, facts) => passOrWrap(result, facts, undefined) };
  }
  const dataSchema = isTyped ? outputSchema : undefined;
  let check: CheckArguments | undefined;
  const validate: CheckArguments = (data) => {
    check ??= compileSchema(dataSchema, () => {});
    return check(data);
  };
  return {
    outputSchema: outputJsonSchema({ dataSchema: dataSchema ?? UNTYPED }),
    wrap: (result, facts) => wrap(result, facts, dataSchema ? validate : undefined),
  };
}

function passOrWrap(
  result: Members,
  facts: CallFacts,
  validate: CheckArguments | undefined,
): Members {
  const isEnvelope = envelopeSchema.safeParse(result['structuredContent']).success;
  return isEnvelope ? result : wrap(result, facts, validate);
}

function wrap(result: Members, facts: CallFacts, validate: CheckArguments | undefined): Members {
  const { meta, isMutation, write } = facts;
  const content = contentOf(result);
  if (result['isError'] === true) {
    const text = content.flatMap((block) => textOf(block) ?? []).join('\n');
    const error = errorOf(text, facts);
    // The message is shortened; the text is not lost.
    const others = content.filter((block) => textOf(block) !== error.message);
    return rendered(failureOf(error, meta), result, others, write);
  }
  const { structuredContent } = result;
  if (!validate) {
    const isData = (block: unknown): boolean =>
      isObject(block) && (block['type'] === 'text' || block['type'] === 'resource_link');
    const structured = structuredContent === undefined ? {} : { structured: structuredContent };
    const data = { content: content.filter(isData), ...structured };
    const others = content.filter((block) => textOf(block) === undefined);
    return rendered({ success: true, data, meta }, result, others, write);
  }
  const issues = isObject(structuredContent)
    ? validate(structuredContent)
    : [{ field: '(result)', message: 'is missing' }];
  if (issues.length > 0) {
    const [{ field, message } = { field: '', message: '' }] = issues;
    const error: ErrorInput<'serialization_error'> = {
      code: 'serialization_error',
      message: 'The result does not match the output schema of the server.',
      details: { field, reason: message },
      ...(isMutation && { outcome: 'executed' }),
    };
    return rendered(failureOf(error, meta), result, content, write);
  }
  const json = JSON.stringify(structuredContent);
  const others = content.filter((block) => !isSameJson(textOf(block), json));
  return rendered({ success: true, data: structuredContent, meta }, result, others, write);
}

/** JSON-RPC errors of a listed tool that report a failed call, not a flaw of the protocol. */
export function errorResult({ error }: Message): Members | undefined {
  if (!error) return undefined;
  const { code, message } = error;
  const isReserved = code >= -32_768 && code <= -32_000;
  if (isReserved && code !== -32_603 && code !== -32_602) return undefined;
  return { content: [{ type: 'text', text: message }], isError: true };
}

/** An error of a mutation never proves that nothing happened. */
function errorOf(text: string, { fault, isMutation }: CallFacts): ErrorInput {
  const known = fault && faultToError(fault)?.input;
  const { code = 'upstream_rejected', details, retryAfterMs, message: general } = known ?? {};
  const message = text.trim() === '' ? (general ?? 'The tool reported an error.') : text;
  return {
    code,
    message,
    ...(details !== undefined && { details }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(isMutation && { outcome: 'unknown' }),
  };
}

export function failureOf(error: ErrorInput, meta: Meta): Envelope {
  const { tool_version, elapsed_ms, retry_count, correlation_id } = meta;
  const created = errorEnvelope(error, {
    toolVersion: tool_version,
    elapsedMs: elapsed_ms,
    retryCount: retry_count,
    correlationId: correlation_id,
    profile: { name: 'api' },
  });
  return { ...created, meta };
}

/** The envelope as structured content and first text; what cannot be part of it follows. */
function rendered(
  envelope: Envelope,
  original: Members,
  others: readonly unknown[],
  write: CallFacts['write'],
): Members {
  const text = write(envelope);
  const { content, structuredContent, isError, _meta } = callToolResult({ envelope, text });
  const { isError: _isError, ...rest } = original;
  const meta = { ...objectIn(original, '_meta'), ..._meta };
  return {
    ...rest,
    content: [...content, ...others],
    structuredContent,
    ...(isError === true && { isError }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

export function isEnvelopeSchema({ required, oneOf }: Members): boolean {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Array.isArray(oneOf) && ['success', 'data', 'meta'].every((name) => names.includes(name));
}
