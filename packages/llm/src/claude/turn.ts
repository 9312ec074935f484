import type {
  SDKAPIRetryMessage,
  SDKMessage,
  SDKRateLimitInfo,
} from '@anthropic-ai/claude-agent-sdk';
import type { TextUsage } from '@toolkeel/contract';
import type { AttemptIo, ModelRequest, ProviderResult } from '../core/provider.js';
import { compact, countOf, isObject, numberOf, type Redactor } from '@toolkeel/pack-kit/base';
import { parseJson } from '../json.js';
import { callerToolName } from './caller-tools.js';
import { faultOfTurn, incomplete, unstructured, type TurnFailure } from './faults.js';

type Of<Type extends SDKMessage['type']> = Extract<SDKMessage, { type: Type }>;
type StreamEvent = Of<'stream_event'>['event'];

const finishes: Readonly<Record<string, ProviderResult['finish']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filtered',
  tool_use: 'tool_calls',
};

/** Translates the messages of one turn of the CLI. */
export class Turn {
  readonly #io: AttemptIo;
  /** With a response schema the answer is the structured output of the result, not the text. */
  readonly #structured: boolean;
  readonly #wallNow: () => number;
  readonly #secrets: Redactor;
  #model: string;
  #requestId: string | undefined;
  #failure: TurnFailure = {};
  #limit: SDKRateLimitInfo | undefined;
  #stopReason: string | undefined;
  #usage: TextUsage | undefined;
  #hasContent = false;
  #calledTools = false;
  /** Whether the current message came as a stream, so that the complete message repeats it. */
  #streamed = false;
  #tool: { readonly id: string; readonly name: string; json: string } | undefined;

  constructor(
    io: AttemptIo,
    { model, responseSchema }: ModelRequest,
    wallNow: () => number,
    secrets: Redactor,
  ) {
    this.#io = io;
    this.#model = model;
    this.#structured = responseSchema !== undefined;
    this.#wallNow = wallNow;
    this.#secrets = secrets;
  }

  get requestId(): string | undefined {
    return this.#requestId;
  }

  /** Returns the result of the turn, once there is one. Throws if the turn failed. */
  take(message: SDKMessage): ProviderResult | undefined {
    switch (message.type) {
      case 'stream_event':
        if (message.parent_tool_use_id === null) this.#takeEvent(message.event);
        return undefined;
      case 'assistant':
        this.#takeMessage(message);
        return undefined;
      case 'user':
        // The CLI refuses to run the caller's tools and tells the model so.
        if (this.#calledTools) return undefined;
        return 'isSynthetic' in message && message.isSynthetic ? this.#endOwnRecovery() : undefined;
      case 'system':
        if (message.subtype === 'api_retry') this.#endOwnRetry(message);
        return undefined;
      case 'rate_limit_event':
        this.#limit = message.rate_limit_info;
        return undefined;
      case 'result':
        return this.#finish(message);
      default:
        return undefined;
    }
  }

  #takeEvent(event: StreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#io.headers();
        // The CLI asked the API again: what it sent before is void. (A structured answer takes two turns.)
        if (this.#hasContent && !this.#structured) this.#io.emit({ type: 'restarted' });
        this.#hasContent = false;
        this.#streamed = true;
        this.#stopReason = undefined;
        this.#model = event.message.model;
        this.#requestId = event.message.id;
        break;
      case 'content_block_start':
        if (event.content_block.type === 'tool_use') {
          const { id, name } = event.content_block;
          this.#tool = { id, name, json: '' };
        }
        break;
      case 'content_block_delta':
        this.#takeDelta(event.delta);
        break;
      case 'content_block_stop':
        this.#endTool();
        break;
      case 'message_delta':
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#usage = usageOf(event.usage);
        break;
      case 'message_stop':
        // The CLI ends a broken message itself, without its finish mark, and asks again.
        if (this.#stopReason === undefined) throw incomplete('the stream broke', this.#requestId);
        break;
      default:
    }
  }

  #takeDelta(delta: Extract<StreamEvent, { type: 'content_block_delta' }>['delta']): void {
    if (delta.type === 'text_delta') this.#emitText(delta.text);
    else if (delta.type === 'thinking_delta') {
      this.#hasContent = true;
      this.#io.emit({ type: 'thinking', text: delta.thinking });
    } else if (delta.type === 'input_json_delta' && this.#tool)
      this.#tool.json += delta.partial_json;
  }

  #emitText(text: string): void {
    if (this.#structured) return;
    this.#hasContent = true;
    this.#io.emit({ type: 'content', text });
  }

  #endTool(): void {
    const tool = this.#tool;
    this.#tool = undefined;
    if (!tool || this.#structured) return;
    const parsed = parseJson(tool.json === '' ? '{}' : tool.json);
    if (!isObject(parsed)) throw new SyntaxError('the arguments of a tool call are no JSON object');
    const name = callerToolName(tool.name);
    this.#hasContent = true;
    this.#calledTools = true;
    this.#io.emit({ type: 'tool_call', id: tool.id, name, arguments: parsed });
  }

  #takeMessage({ message, error, request_id: requestId }: Of<'assistant'>): void {
    this.#requestId = requestId ?? this.#requestId;
    // The text of a failed turn is the CLI's description of the error, not an answer.
    if (error !== undefined && error !== 'max_output_tokens') {
      this.#failure = { ...this.#failure, error };
      return;
    }
    if (this.#streamed) return;
    this.#io.headers();
    this.#model = message.model;
    for (const block of message.content) if (block.type === 'text') this.#emitText(block.text);
  }

  /**
   * The CLI asks the model to go on by itself after a message that broke or was too long. Retries are ours
   * alone: a broken message is an error, and a long one is the answer that was asked for.
   */
  #endOwnRecovery(): ProviderResult | undefined {
    if (this.#structured) return undefined;
    if (this.#stopReason !== 'max_tokens') throw incomplete('the stream broke', this.#requestId);
    if (this.#usage) this.#io.emit({ type: 'usage', usage: this.#usage });
    return this.#resultOf('length');
  }

  #endOwnRetry({ error, error_status: status }: SDKAPIRetryMessage): void {
    // A refused token may have expired: the CLI renews the login and asks once more, which only it can do.
    if (error === 'authentication_failed') return;
    throw this.#faultOf({ error, status: numberOf(status) });
  }

  #finish(result: Of<'result'>): ProviderResult {
    // A turn that calls tools is complete, but the CLI would go on if it were allowed another one.
    const isCall = this.#calledTools && result.subtype === 'error_max_turns';
    if (!isCall && (result.is_error || result.subtype !== 'success')) throw this.#fault(result);
    const usage = usageOf(result.usage, result.total_cost_usd);
    if (usage) this.#io.emit({ type: 'usage', usage });
    const stopReason = result.stop_reason ?? this.#stopReason;
    if (stopReason === undefined) throw incomplete('no stop reason', this.#requestId);
    const finish = finishes[stopReason] ?? 'other';
    return this.#resultOf(this.#structured ? this.#finishStructured(result, finish) : finish);
  }

  #finishStructured(
    result: Of<'result'>,
    finish: ProviderResult['finish'],
  ): ProviderResult['finish'] {
    const answer = 'structured_output' in result ? (result.structured_output ?? null) : null;
    if (answer !== null) {
      this.#io.emit({ type: 'content', text: JSON.stringify(answer) });
      return 'stop';
    }
    // The finish says why there is no answer.
    if (finish === 'length' || finish === 'filtered') return finish;
    const said = 'result' in result ? this.#secrets.redact(result.result) : '';
    throw unstructured(said, this.#requestId);
  }

  #resultOf(finish: ProviderResult['finish']): ProviderResult {
    return {
      finish,
      model: this.#model,
      ...(this.#requestId !== undefined && { requestId: this.#requestId }),
    };
  }

  #fault(result: Of<'result'>): Error {
    const text = result.subtype === 'success' ? result.result : result.errors[0];
    const status = 'api_error_status' in result ? numberOf(result.api_error_status) : undefined;
    return this.#faultOf({ ...this.#failure, status, text });
  }

  #faultOf(failure: TurnFailure): Error {
    const facts = { ...failure, limit: this.#limit, requestId: this.#requestId };
    return faultOfTurn(facts, this.#wallNow(), this.#secrets);
  }
}

interface ReportedUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}

/** Anthropic counts cached input apart from `input_tokens`; here it is a part of it, as at Gemini. */
function usageOf(usage: ReportedUsage, costUsd?: number): TextUsage | undefined {
  const fresh = countOf(usage.input_tokens);
  const outputTokens = countOf(usage.output_tokens);
  if (fresh === undefined || outputTokens === undefined) return undefined;
  const cached = countOf(usage.cache_read_input_tokens) ?? 0;
  const written = countOf(usage.cache_creation_input_tokens) ?? 0;
  return compact({
    inputTokens: fresh + cached + written,
    outputTokens,
    cachedInputTokens: cached > 0 ? cached : undefined,
    costUsd: numberOf(costUsd),
  });
}
