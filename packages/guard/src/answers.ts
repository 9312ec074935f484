import { answer, faulted, toolError, type Envelope } from '@toolkeel/contract';
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
  if (fault.kind !== 'bad_response' || fault.final !== true) return faulted(fault);
  const message = 'The response of the upstream is too large. Ask for less.';
  return toolError('response_too_large', message, isMutation ? { outcome: 'executed' } : {});
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

/** The answer as the journal stores it. An answer is final, also if it is an error. */
export function recorded({ result, error }: Message, scrub: (text: string) => string): unknown {
  if (error && NOT_EXECUTED.has(error.code)) {
    // A cut through a secret would hide it from the redaction.
    const message = scrub(error.message).slice(0, 500);
    return toolError('upstream_rejected', message, { outcome: 'not_executed' });
  }
  // The client is asked something first, and calls again: nothing has happened yet.
  if (result?.['resultType'] === 'input_required')
    return faulted({ kind: 'cancelled', sent: 'no' });
  return { ...(result && { result }), ...(error && { error }) };
}

/** The response of a run: what the upstream answered, now or earlier, or an envelope of the guard. */
export function responseTo(
  request: RequestFrame,
  run: CompletedRun,
  reply: ResponseFrame | undefined,
): Frame {
  const { id, params } = request.message;
  const { envelope } = run;
  const facts = factsOf(envelope);
  if (reply) {
    const { message } = reply;
    if (!facts && message.id === id) return reply;
    return frameOf({
      ...message,
      id,
      ...(message.result && { result: withFacts(message.result, facts) }),
    });
  }
  if (envelope.success) {
    const stored = envelope.data as Pick<Message, 'result' | 'error'>;
    if (stored.error) return frameOf({ jsonrpc: '2.0', id, error: stored.error });
    return frameOf({
      jsonrpc: '2.0',
      id,
      result: withFacts(replayed(stored.result ?? {}, envelope), facts),
    });
  }
  const { content, structuredContent, isError, _meta } = callToolResult(worded(run));
  const isModern = objectIn(params, '_meta')[VERSION_KEY] !== undefined;
  const result = {
    content,
    structuredContent,
    isError,
    _meta,
    ...(isModern && { resultType: 'complete' }),
  };
  return frameOf({ jsonrpc: '2.0', id, result: withFacts(result, facts) });
}

/** A failure in terms of what exists behind a guard. */
function worded(run: CompletedRun): CompletedRun {
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
  return { correlation_id, retry_count, ...(idempotency && { idempotency }) };
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
