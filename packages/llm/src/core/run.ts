import type {
  TextCompletion,
  TextEvent,
  TextMessage,
  TextRequest,
  TextStreamContext,
  TextToolCall,
  TextUsage,
} from '@toolkeel/contract';
import {
  FaultError,
  withResilience,
  type AttemptContext,
  type Fault,
  type KernelEvent,
  type Layer,
  type ResiliencePolicy,
} from '@toolkeel/kernel';
import { isObject } from '@toolkeel/pack-kit/base';
import type { Channel } from './channel.js';
import { AttemptClocks } from './clocks.js';
import { classify, ProviderError, ProviderFault, type Phase } from './errors.js';
import type { ProviderEvent, ProviderResult } from './provider.js';

export type Recovery = NonNullable<TextStreamContext['recovery']>;

export interface RunOptions {
  readonly signal: AbortSignal | undefined;
  /** Of the whole run, on the channels' clock. */
  readonly deadline: number;
  readonly correlationId: string | undefined;
  readonly recovery: Recovery;
  readonly emit: (event: TextEvent) => void;
}

/** How one channel takes part in the run. */
export interface Turn {
  readonly policy: ResiliencePolicy;
  /** Another model follows: fail instead of waiting for this one. */
  readonly skipCooldown: boolean;
  readonly layers: readonly Layer[];
}

export type RunOutcome =
  | { readonly ok: true; readonly completion: TextCompletion }
  | { readonly ok: false; readonly error: ProviderError };

/** A hostile or broken provider must not fill the memory before a clock fires. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

const CONTINUE =
  'Your previous answer was cut off. Continue it exactly where it stops, without repeating any of it and without any introduction.';

/** One request of a caller: the attempts at one or several providers, and what they produced so far. */
export class Run {
  readonly #request: TextRequest;
  readonly #options: RunOptions;
  #text = '';
  #thinking = '';
  #toolCalls: TextToolCall[] = [];
  #usage: TextUsage | undefined;
  #attempts = 0;
  /** Length of the text when the current attempt began: an attempt may continue an earlier one. */
  #kept = 0;
  #phase: Phase = 'queued';
  #timeoutMs: number | undefined;

  constructor(request: TextRequest, options: RunOptions) {
    this.#request = request;
    this.#options = options;
  }

  /** Whether the caller can get another attempt without seeing two answers in one. */
  get mayRetry(): boolean {
    const { recovery } = this.#options;
    if (recovery === 'restart' || !this.#hasContent) return true;
    return recovery === 'continue' && this.#toolCalls.length === 0;
  }

  get #hasContent(): boolean {
    return this.#text !== '' || this.#toolCalls.length > 0;
  }

  /** Asks one provider, with its retries. */
  async ask(channel: Channel, turn: Turn): Promise<RunOutcome> {
    const { signal, deadline, correlationId } = this.#options;
    const { clock, random, upstream, provider } = channel;
    const attempt = withResilience(
      (_: undefined, context: AttemptContext) => this.#attempt(channel, context),
      turn.policy,
      {
        effect: 'read',
        name: provider.name,
        clock,
        random,
        upstream,
        classify,
        listener: (event) => {
          this.#observe(event, channel);
          channel.listener?.(event);
        },
        layers: [...turn.layers, this.#interruption(), channel.cooldown.layer(turn.skipCooldown)],
      },
    );
    const call = channel.enter(signal);
    const options = { signal: call.controller.signal, deadline, correlationId };
    const outcome = await attempt.outcome(undefined, options).finally(call.leave);
    if (outcome.ok) {
      channel.note();
      return { ok: true, completion: this.#completion(channel, outcome.value) };
    }
    const error = this.#error(outcome.fault, channel);
    channel.note(error);
    return { ok: false, error };
  }

  #error(fault: Fault, { provider }: Channel): ProviderError {
    return new ProviderError(fault, {
      provider: provider.name,
      phase: this.#phase,
      attempts: this.#attempts,
      partialText: this.#text,
      timeoutMs: fault.kind === 'timeout' ? this.#timeoutMs : undefined,
    });
  }

  #completion({ provider }: Channel, result: ProviderResult): TextCompletion {
    const { finish, model, requestId } = result;
    return {
      text: this.#text,
      provider: provider.name,
      model,
      finish,
      toolCalls: this.#toolCalls,
      ...(this.#thinking !== '' && { thinking: this.#thinking }),
      ...(this.#usage && { usage: this.#usage }),
      attempts: this.#attempts,
      ...(requestId !== undefined && { requestId }),
    };
  }

  /** Stops the retries of a stream whose content has reached the caller. */
  #interruption(): Layer {
    return {
      name: 'interruption',
      recover: (call, fault, now) => {
        if (this.mayRetry) return false;
        call.giveUp('permanent', fault, now);
        return true;
      },
    };
  }

  #observe(event: KernelEvent, channel: Channel): void {
    if (event.type !== 'retry_attempt') return;
    this.#emitRetry(this.#error(event.fault, channel), event.afterMs);
    this.#phase = 'backoff';
  }

  /** Tells the consumer that another attempt follows, here or at the next model. */
  noteFallback(error: ProviderError): void {
    this.#emitRetry(error, 0);
  }

  #emitRetry(error: ProviderError, afterMs: number): void {
    const { provider } = error;
    this.#options.emit({ type: 'retry', provider, attempt: this.#attempts, afterMs, error });
  }

  /**
   * One attempt. Settles when a clock fires, the call is abandoned or the provider has finished,
   * whichever is first; the adapter cleans up behind the caller's back.
   */
  #attempt(channel: Channel, context: AttemptContext): Promise<ProviderResult> {
    const { provider, clock, timeouts } = channel;
    const { emit } = this.#options;
    const request = this.#nextRequest(channel);
    const controller = new AbortController();
    context.sent = 'no';
    return new Promise((resolve, reject) => {
      let ended = false;
      let received = 0;
      const end = (settle: () => void): void => {
        if (ended) return;
        ended = true;
        this.#phase = clocks.phase;
        clocks.end();
        context.signal.removeEventListener('abort', onAbandoned);
        settle();
        controller.abort();
      };
      const onAbandoned = (): void => end(() => reject(context.signal.reason as Error));
      const clocks = new AttemptClocks(clock, timeouts, (name, timeoutMs) => {
        this.#timeoutMs = timeoutMs;
        const fault: Fault = { kind: 'timeout', sent: context.sent, clock: name };
        end(() => reject(new FaultError(fault)));
      });
      // The kernel aborts at the deadline of the call and when the caller cancels.
      context.signal.addEventListener('abort', onAbandoned, { once: true });
      const report = (step: () => void) => (): void => {
        if (!ended) step();
      };
      const io = {
        signal: controller.signal,
        begin: report(() => {
          this.#attempts++;
          clocks.begin();
        }),
        connected: report(() => {
          context.sent = 'maybe';
          clocks.connected();
        }),
        headers: report(() => {
          if (['connect', 'headers'].includes(clocks.phase)) {
            emit({ type: 'start', provider: provider.name, model: request.model });
          }
          clocks.headers();
        }),
        bytes: (count: number): void => {
          if (ended) return;
          clocks.bytes();
          received += count;
          if (received > MAX_RESPONSE_BYTES) end(() => reject(tooLarge(provider.name)));
        },
        finished: report(() => clocks.end()),
        emit: (event: ProviderEvent): void => {
          if (ended) return;
          if (event.type !== 'restarted') return this.#deliver(event, clocks);
          if (!this.mayRetry) end(() => reject(restartedByProvider(provider.name)));
          else this.#reset();
        },
      };
      const failed = (cause: unknown): void =>
        end(() => reject(cause instanceof Error ? cause : new Error('not an error', { cause })));
      provider.run(request, io).then((result) => end(() => resolve(result)), failed);
    });
  }

  #nextRequest({ provider }: Channel) {
    const { recovery } = this.#options;
    const request = this.#request;
    checkMessages(request);
    const continues = recovery === 'continue' && this.#text !== '' && this.#toolCalls.length === 0;
    if (!continues) this.#reset();
    this.#kept = this.#text.length;
    const messages: readonly TextMessage[] = continues
      ? [
          ...request.messages,
          { role: 'assistant', content: this.#text },
          { role: 'user', content: CONTINUE },
        ]
      : request.messages;
    return { ...request, messages, model: request.model ?? provider.model };
  }

  /** Discards what earlier attempts produced, and tells the consumer if it has seen any of it. */
  #reset(): void {
    const kept = this.#options.recovery === 'continue' ? this.#text.slice(0, this.#kept) : '';
    if (this.#hasContent || this.#thinking !== '') {
      this.#options.emit({ type: 'reset' });
      if (kept !== '') this.#options.emit({ type: 'content', text: kept });
    }
    this.#text = kept;
    this.#thinking = '';
    this.#toolCalls = [];
    this.#usage = undefined;
  }

  #deliver(event: Exclude<ProviderEvent, { type: 'restarted' }>, clocks: AttemptClocks): void {
    switch (event.type) {
      case 'content':
        if (event.text === '') return;
        this.#text += event.text;
        break;
      case 'thinking':
        if (event.text === '') return;
        this.#thinking += event.text;
        break;
      case 'tool_call':
        this.#toolCalls.push(event);
        break;
      case 'usage':
        this.#usage = event.usage;
        return this.#options.emit(event);
    }
    clocks.content();
    this.#options.emit(event);
  }
}

function restartedByProvider(provider: string): ProviderFault {
  return new ProviderFault('incomplete_stream', `${provider} began its answer again`, {
    kind: 'network',
    sent: 'maybe',
  });
}

function tooLarge(provider: string): ProviderFault {
  return new ProviderFault(
    'bad_response',
    `${provider} sent more than ${MAX_RESPONSE_BYTES} bytes`,
    { kind: 'bad_response', sent: 'answered', final: true },
  );
}

/** Callers without types pass anything. Their mistakes must not look like those of a provider. */
function checkMessages(request: unknown): void {
  const messages: unknown = isObject(request) ? request['messages'] : undefined;
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalid('The request has no messages. Add one of the user');
  }
  for (const message of messages as readonly unknown[]) {
    const content: unknown = isObject(message) ? message['content'] : undefined;
    const isValid = Array.isArray(content) ? content.every(isObject) : typeof content === 'string';
    if (!isValid) throw invalid('A message has no content. Set it to a text or a list of parts');
  }
}

const invalid = (message: string): ProviderFault =>
  new ProviderFault('invalid_request', message, { kind: 'rejected', sent: 'no' });

/** Whether another model may answer what this one could not. */
export function mayFallBack({ fault, code }: ProviderError): boolean {
  if (code === 'unsupported' || code === 'not_configured' || code === 'billing') return true;
  if (fault.clock === 'deadline') return false;
  return !['cancelled', 'rejected', 'unexpected'].includes(fault.kind);
}
