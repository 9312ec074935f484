import type { ObjectSchema, OutputOf, Schema } from './tool/schema.js';
import type { ToolContext } from './tool/context.js';
import type { Tool, ToolSpec } from './tool/tool.js';
import type { Fault, Outcome } from '@toolkeel/kernel';

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
}

/** A running pack. */
export interface PackInstance {
  readonly tools: readonly Tool[];
  readonly resources?: readonly PackResource[];
  readonly prompts?: readonly PackPrompt[];
  readonly health: () => Promise<PackHealth>;
  /** Read when metrics are collected. */
  readonly upstreams?: () => readonly UpstreamState[];
  readonly close: () => Promise<void>;
}

/** The tools of one upstream, as a host sees them. */
export interface Pack<Config extends Schema = Schema> {
  readonly name: string;
  readonly configSchema: Config;
  /**
   * Lists the tools without network access or heavy imports. With a configuration, descriptions may
   * mention it; names, effects and arguments stay the same.
   */
  describe(config?: OutputOf<Config>): readonly ToolSpec[];
  /** A short text for the server's `instructions`: what a model cannot guess, such as configured names. */
  instructions?(config: OutputOf<Config>): string;
  /** A method, so that packs with different configurations fit in one list. */
  create(config: OutputOf<Config>, deps: PackDeps): Promise<PackInstance>;
}

export interface TextMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export interface TextRequest {
  readonly system?: string;
  readonly messages: readonly TextMessage[];
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** A JSON Schema for the response, if the model supports one. */
  readonly responseSchema?: Readonly<Record<string, unknown>>;
}

/** Context of the request. Compatible with ToolContext. */
export interface TextContext {
  readonly signal: AbortSignal;
  readonly deadline: number;
  readonly correlationId: string;
}

export interface TextUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface TextCompletion {
  readonly text: string;
  readonly model: string;
  readonly finish: 'stop' | 'length' | 'filtered' | 'other';
  readonly usage?: TextUsage;
}

/** An event of a streamed completion. The last one is `done` or `failed`. */
export type TextEvent =
  | { readonly type: 'text'; readonly text: string }
  /** Discard the text so far: the model has restarted. */
  | { readonly type: 'restart' }
  | { readonly type: 'done'; readonly completion: TextCompletion }
  | { readonly type: 'failed'; readonly fault: Fault; readonly partialText: string };

/** A language model of any provider. Failures are values, not exceptions. */
export interface TextModel {
  readonly name: string;
  readonly complete: (
    request: TextRequest,
    context: TextContext,
  ) => Promise<Outcome<TextCompletion>>;
  readonly stream: (request: TextRequest, context: TextContext) => AsyncIterable<TextEvent>;
}
