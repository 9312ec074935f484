import type { ObjectSchema, OutputOf, Schema } from './tool/schema.js';
import type { ToolContext } from './tool/context.js';
import type { Tool, ToolSpec } from './tool/tool.js';
import type { PackWorkflow } from './workflow.js';
import type { Fault } from '@toolkeel/kernel';

/** Writes a log line: an event name and its fields, without secrets. */
export type PackLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** An event of a request to the upstream. Compatible with the kernel's events. */
export interface PackEvent {
  readonly type: string;
  readonly correlationId: string;
}

/** The dependencies that a host provides to a pack. */
export interface PackDeps {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly random: () => number;
  readonly log: PackLog;
  /** Receives the kernel's events, for counters, spans, progress and `meta.retry_count`. */
  readonly observe: (event: PackEvent) => void;
  /** Registers a secret that is not in the configuration, such as a refreshed token, for redaction. */
  readonly secret?: (value: string) => void;
  /** The language model, if one is configured. */
  readonly model?: TextModel;
  /** In the `workflow` profile of a host with a journal. */
  readonly workflow?: PackWorkflow;
}

export interface PackResource {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  readonly read: (uri: string, context: ToolContext) => Promise<string>;
}

export interface PackPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: ObjectSchema;
  readonly render: (args: Readonly<Record<string, unknown>>) => string;
}

/** Health of one upstream. */
export interface UpstreamHealth {
  /** Its name in the configuration. */
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface PackHealth {
  readonly ok: boolean;
  /** For the operator: which upstream, what is missing. Never a credential. */
  readonly detail: string;
  /** What the operator can do, if known. */
  readonly advice?: string;
  /** False if required settings are missing: the pack is not in use rather than unhealthy. */
  readonly configured?: boolean;
  /** Per upstream, if there are several. The pack's `ok` may be true although one of them fails. */
  readonly upstreams?: readonly UpstreamHealth[];
}

/** Protection state of an upstream. Compatible with the kernel's `Upstream`. */
export interface UpstreamState {
  readonly name: string;
  readonly circuit: 'closed' | 'half_open' | 'open';
  /** Retries that the budget allows; undefined without a budget. */
  readonly retryTokens: number | undefined;
  /** Whether it is connected; undefined if there is no permanent connection. */
  readonly isUp?: boolean | undefined;
  /** Retries that a full budget allows. */
  readonly retryCapacity?: number | undefined;
  /** While the circuit is open: when a probe is admitted, on the clock of `performance.now()`. */
  readonly probeAt?: number | undefined;
  /** Windows of rate limits that have not reset yet. `reset`: Unix time in seconds. */
  readonly limits?: (wallNow: number) => readonly UpstreamLimit[];
}

interface UpstreamLimit {
  readonly route?: string;
  readonly name?: string;
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/** A running pack. */
export interface PackInstance {
  readonly tools: readonly Tool[];
  readonly resources?: readonly PackResource[];
  readonly prompts?: readonly PackPrompt[];
  readonly health: () => Promise<PackHealth>;
  /** The model of a pack that provides one; undefined if none is configured. */
  readonly model?: TextModel | undefined;
  /** Read when metrics are collected. */
  readonly upstreams?: () => readonly UpstreamState[];
  readonly close: () => Promise<void>;
}

/** A local imitation of a pack's upstream. */
export interface PackSandbox {
  /** The complete configuration of the pack: it uses this upstream and no other. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Addresses by purpose, such as `api`. */
  readonly addresses?: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

/** The tools of one upstream, as a host sees them. */
export interface Pack<Config extends Schema = Schema> {
  readonly name: string;
  readonly configSchema: Config;
  /** Whether its instances have a `model`, which the host passes to the other packs. */
  readonly providesModel?: boolean;
  /**
   * Lists the tools without network access or heavy imports. With a configuration, descriptions may
   * mention it; names, effects and arguments stay the same.
   */
  describe(config?: OutputOf<Config>): readonly ToolSpec[];
  /** A short text for the server's `instructions`: what a model cannot guess, such as configured names. */
  instructions?(config: OutputOf<Config>): string;
  /** A method, so that packs with different configurations fit in one list. */
  create(config: OutputOf<Config>, deps: PackDeps): Promise<PackInstance>;
  /** Starts a local upstream, for a server with `--sandbox`. Without it, such a server refuses the pack. */
  sandbox?(): Promise<PackSandbox>;
}

/** One part of a message. `data` is base64. */
export type TextPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string }
  | TextToolCall
  | {
      readonly type: 'tool_result';
      readonly callId: string;
      readonly name: string;
      readonly content: string;
      readonly isError?: boolean;
    };

/** A call of a tool that the model asks for. The caller runs the tool and answers with a `tool_result`. */
export interface TextToolCall {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface TextMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly TextPart[];
}

export interface TextTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface TextRequest {
  /** Default: the configured model. */
  readonly model?: string;
  readonly system?: string;
  readonly messages: readonly TextMessage[];
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** A JSON Schema for the response, if the model supports one. */
  readonly responseSchema?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly TextTool[];
  /** Default: the provider's. */
  readonly thinking?: 'off' | 'low' | 'medium' | 'high';
}

/** Context of the request. Compatible with ToolContext. */
export interface TextContext {
  readonly signal?: AbortSignal;
  /** Monotonic milliseconds (`performance.now()`). */
  readonly deadline?: number;
  readonly correlationId?: string;
}

export interface TextStreamContext extends TextContext {
  /**
   * What to do when a stream breaks after its first content. `error` (default): fail with the partial
   * text. `restart`: emit `reset` and begin again. `continue`: ask the model to continue.
   */
  readonly recovery?: 'error' | 'restart' | 'continue';
}

export interface TextUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `outputTokens`. */
  readonly thinkingTokens?: number;
  /** Part of `inputTokens`. */
  readonly cachedInputTokens?: number;
  /** In US dollars, where the provider reports it or prices are configured. */
  readonly costUsd?: number;
}

export interface TextCompletion {
  readonly text: string;
  readonly provider: string;
  /** The model that answered, which may differ from the requested one. */
  readonly model: string;
  readonly finish: 'stop' | 'length' | 'filtered' | 'tool_calls' | 'other';
  readonly toolCalls: readonly TextToolCall[];
  readonly thinking?: string;
  readonly usage?: TextUsage;
  /** Requests that were made, failed ones included. */
  readonly attempts: number;
  readonly requestId?: string;
}

/** How a request to a model failed. `fault` is the kernel's view of it. */
export interface TextModelError extends Error {
  readonly fault: Fault;
  readonly provider: string;
  readonly code: string;
  /** How far the last attempt got. */
  readonly phase: string;
  readonly status?: number;
  /** The timeout that fired. */
  readonly clock?: string;
  readonly retriable: boolean;
  readonly retryAfterMs?: number;
  readonly attempts: number;
  readonly requestId?: string;
  /** The text that arrived before the failure. */
  readonly partialText: string;
}

/** An event of a streamed completion. The last one is `done` or `error`. */
export type TextEvent =
  | { readonly type: 'start'; readonly provider: string; readonly model: string }
  | { readonly type: 'content'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | TextToolCall
  | { readonly type: 'usage'; readonly usage: TextUsage }
  /** An attempt failed and the next one starts after `afterMs`. */
  | {
      readonly type: 'retry';
      readonly provider: string;
      readonly attempt: number;
      readonly afterMs: number;
      readonly error: TextModelError;
    }
  /** Discard all content, thinking and tool calls so far: the answer begins again. */
  | { readonly type: 'reset' }
  | { readonly type: 'done'; readonly completion: TextCompletion }
  | { readonly type: 'error'; readonly error: TextModelError };

/** `degraded`: answers with errors or slowly. `unknown`: only a request could tell. */
export interface TextModelHealth {
  readonly state: 'healthy' | 'degraded' | 'down' | 'unknown';
  readonly provider: string;
  readonly model: string;
  readonly detail: string;
  readonly advice?: string;
}

/** A language model of any provider. */
export interface TextModel {
  readonly name: string;
  /** Rejects with a TextModelError. */
  readonly complete: (request: TextRequest, context?: TextContext) => Promise<TextCompletion>;
  /** Never throws: the last event is `done` or `error`. Ending the iteration cancels the request. */
  readonly stream: (request: TextRequest, context?: TextStreamContext) => AsyncIterable<TextEvent>;
  /** Never requests a completion. One entry per model of a chain. */
  readonly health: () => Promise<readonly TextModelHealth[]>;
}
