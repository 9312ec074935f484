import { answer, faulted, raisedToolError, toolError, type Envelope } from '@toolkeel/contract';
import { callToolResult, type CompletedRun } from '@toolkeel/host/parts';
import type { Fault } from '@toolkeel/kernel';
import {
  frameOf,
  isObject,
  objectIn,
  type Frame,
  type Message,
  type RequestFrame,
  type ResponseFrame,
} from './frame.js';
import { failureOf } from './envelope.js';
import { inexactNumbers } from './json-text.js';
import { inGuardTerms } from './wording.js';

const GUARD_META = 'dev.toolkeel/guard';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Of a read, the engine needs to know only that it was answered. */
export const ANSWERED = answer({});

/** Whether the cause of a fault is the answer of the upstream. */
export function isReply(cause: unknown): cause is ResponseFrame {
  return isObject(cause) && typeof cause['line'] === 'string' && isObject(cause['message']);
}

/** The error of a call that the upstream did not answer. */
export function failed(fault: Fault, isMutation: boolean) {
  const refusal = raisedToolError(fault.cause);
  if (refusal && fault.sent === 'no') return refusal;
  // An earlier attempt was sent, so the refusal of a further one says nothing about the outcome.
  if (refusal) return faulted({ kind: 'network', sent: 'maybe' });
  if (fault.kind !== 'bad_response' || fault.final !== true) return faulted(fault);
  const message = 'The response of the upstream is too large. Ask for less.';
  return toolError('response_too_large', message, isMutation ? { outcome: 'executed' } : {});
}

/**
 * The fault of what an exchange threw. The journal throws why a call must not be sent, such as a limit of
 * the policy or a lost lease: `failed` passes that on.
 */
export function faultOfThrown(cause: unknown, isWritten: boolean): Fault {
  const refusal = raisedToolError(cause);
  const isUnsent = refusal !== undefined && !isWritten && refusal.input.outcome !== 'unknown';
  return { kind: 'unexpected', sent: isUnsent ? 'no' : 'maybe', final: true, cause };
}

/** Why a request other than a call failed. */
export function textOf(fault: Fault): string {
  if (fault.kind === 'bad_response') return 'The response of the upstream is too large.';
  const { code } = objectIn(fault, 'cause');
  const reason = typeof code === 'string' ? ` (${code})` : '';
  return `The upstream is unavailable${reason}. Try again later.`;
}

/** Errors that say that the request reached no tool. */
const NOT_EXECUTED: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_021]);

/**
 * The answer as the journal stores it, which must be redacted: a cut through a secret would hide it. An
 * answer is final, also if it is an error.
 */
export function recorded({ message, line }: Frame): unknown {
  const { result, error } = message;
  if (error && NOT_EXECUTED.has(error.code)) {
    return toolError('upstream_rejected', error.message.slice(0, 500), { outcome: 'not_executed' });
  }
  // The client is asked something first, and calls again: nothing has happened yet.
  if (result?.['resultType'] === 'input_required')
    return faulted({ kind: 'cancelled', sent: 'no' });
  // JavaScript would change its numbers.
  if (inexactNumbers(line).some(({ path }) => path[0] !== 'id')) return { line };
  return { ...(result && { result }), ...(error && { error }) };
}

/** An answer as it was stored. */
function storedFrame(data: unknown): Frame {
  const { line, ...stored } = data as Partial<Pick<Message, 'result' | 'error'> & { line: string }>;
  if (line !== undefined) return { line, message: JSON.parse(line) as Message };
  return frameOf({ jsonrpc: '2.0', id: 0, ...stored });
}

/**
 * The response of a run: what the upstream answered, now or earlier, or an envelope of the guard. Clients
 * refuse structured content that does not match the schema of a typed tool, also in an error.
 */
export function responseTo(
  request: RequestFrame,
  run: CompletedRun,
  reply: ResponseFrame | undefined,
  isTyped = false,
): Frame {
  const { id } = request.message;
  const { envelope } = run;
  const facts = factsOf(envelope);
  if (reply) {
    const { message } = reply;
    if (!facts && message.id === id) return reply;
    const result = message.result && withFacts(message.result, facts);
    return frameOf({ ...message, id, ...(result && { result }) }, reply);
  }
  if (envelope.success) {
    if (isTyped && isLost(envelope.data)) {
      return lostAnswer(request, envelope, envelope.data);
    }
    const stored = storedFrame(envelope.data);
    const { error } = stored.message;
    if (error) return frameOf({ jsonrpc: '2.0', id, error }, stored);
    const result = withFacts(replayed(stored.message.result ?? {}, envelope), facts);
    return frameOf({ jsonrpc: '2.0', id, result }, stored);
  }
  return failureResponse(request, run, facts, isTyped);
}

function failureResponse(
  { message: { id, params } }: RequestFrame,
  run: Pick<CompletedRun, 'envelope' | 'text'>,
  facts: Members | undefined,
  isTyped: boolean,
): Frame {
  const { content, structuredContent, isError, _meta } = callToolResult(worded(run));
  const isModern = objectIn(params, '_meta')[VERSION_KEY] !== undefined;
  const result = {
    content,
    ...(!isTyped && { structuredContent }),
    isError,
    _meta,
    ...(isModern && { resultType: 'complete' }),
  };
  return frameOf({ jsonrpc: '2.0', id, result: withFacts(result, facts) });
}

/** What a read of the upstream has shown about a call whose answer was lost. */
interface LostAnswer {
  readonly isLost: true;
  readonly result: { readonly content: readonly [{ readonly text: string }] };
}

function isLost(data: unknown): data is LostAnswer {
  return isObject(data) && data['isLost'] === true;
}

/** An error, because there is no structured content that a success of a typed tool needs. */
function lostAnswer(request: RequestFrame, envelope: Envelope, { result }: LostAnswer): Frame {
  const message = `${result.content[0].text} This is not a failure: do not repeat the call.`;
  const error = failureOf(
    { code: 'serialization_error', message, outcome: 'executed' },
    envelope.meta,
  );
  const run = { envelope: error, text: JSON.stringify(error) };
  return failureResponse(request, run, factsOf(envelope), true);
}

/** A failure in terms of what exists behind a guard. */
function worded(
  run: Pick<CompletedRun, 'envelope' | 'text'>,
): Pick<CompletedRun, 'envelope' | 'text'> {
  const { envelope } = run;
  if (envelope.success) return run;
  const { error } = envelope;
  const message = inGuardTerms(error.message, error.operation_id);
  if (message === error.message) return run;
  const changed = { ...envelope, error: { ...error, message } };
  return { ...run, envelope: changed, text: JSON.stringify(changed) };
}

type Members = Readonly<Record<string, unknown>>;

/** What the guard has to say about a call; undefined for a read that needed no retry. */
function factsOf({ meta }: Envelope): Members | undefined {
  const { correlation_id, retry_count, idempotency } = meta;
  if (retry_count === 0 && !idempotency) return undefined;
  const { warning } = idempotency ?? {};
  const translated = warning !== undefined && { warning: inGuardTerms(warning, undefined) };
  return {
    correlation_id,
    retry_count,
    ...(idempotency && { idempotency: { ...idempotency, ...translated } }),
  };
}

function withFacts(result: Members, facts: Members | undefined): Members {
  return facts
    ? { ...result, _meta: { ...objectIn(result, '_meta'), [GUARD_META]: facts } }
    : result;
}

/** Tells the model, which does not see `_meta`, that nothing was executed again. */
function replayed(result: Members, { meta }: Envelope): Members {
  const { idempotency } = meta;
  if (!idempotency?.replayed) return result;
  const text = `Not executed again: this is the result of the same call of ${idempotency.first_at}, ${reasonOf(idempotency.key ?? '')}.`;
  const { content } = result;
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : [];
  return { ...result, content: [{ type: 'text', text }, ...blocks] };
}

/** Why an earlier result answers a call. Its own key is shown as it is, others as a fingerprint. */
function reasonOf(key: string): string {
  const [, by] = /^(content|template|key):[0-9a-f]{16}$/.exec(key) ?? [];
  if (by === undefined) return 'which has the same idempotency key';
  if (by === 'template') return 'which has the same key by the settings of this tool';
  return 'which is kept because it may not have been received';
}
