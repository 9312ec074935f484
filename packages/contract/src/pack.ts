import type { ObjectSchema, OutputOf, Schema } from './tool/schema.js';
import type { ToolContext } from './tool/context.js';
import type { Tool, ToolSpec } from './tool/tool.js';
import type { Fault, Outcome } from '@toolkeel/kernel';

/** One line of the log: an event's name and its fields. Secrets do not belong in either. */
export type PackLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** Something that happened to a request on its way to the upstream. The kernel's events fit. */
export interface PackEvent {
  readonly type: string;
  readonly correlationId: string;
}

/** What a host gives to a pack. */
export interface PackDeps {
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  readonly random: () => number;
  readonly log: PackLog;
  /** Takes the kernel's events: for counters, spans, progress and `meta.retry_count`. */
  readonly observe: (event: PackEvent) => void;
  /** Takes a secret that no setting leads to, so that the host says it to nobody: a token that was renewed. */
  readonly secret?: (value: string) => void;
  /** The language model, where one is configured. */
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

/** How one upstream answers. */
export interface UpstreamHealth {
  /** As the configuration calls it. */
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface PackHealth {
  readonly ok: boolean;
  /** What an operator should know: which upstream, what is missing. Never a credential. */
  readonly detail: string;
  /** What an operator does about it, where the pack knows. */
  readonly advice?: string;
  /** False where nobody has given it what it needs: then it is not unwell, only not in use. */
  readonly configured?: boolean;
  /** One by one, where there are several. `ok` says whether the pack can do without those that are not. */
  readonly upstreams?: readonly UpstreamHealth[];
}

/** How an upstream is treated at the moment. The kernel's `Upstream` fits. */
export interface UpstreamState {
  readonly name: string;
  readonly circuit: 'closed' | 'half_open' | 'open';
  /** Retries that its budget still pays for; undefined where they are not budgeted. */
  readonly retryTokens: number | undefined;
}

/** A pack at work. */
export interface PackInstance {
  readonly tools: readonly Tool[];
  readonly resources?: readonly PackResource[];
  readonly prompts?: readonly PackPrompt[];
  readonly health: () => Promise<PackHealth>;
  /** For gauges: asked when somebody looks. */
  readonly upstreams?: () => readonly UpstreamState[];
  readonly close: () => Promise<void>;
}

/** The tools of one upstream, as a host sees them. */
export interface Pack<Config extends Schema = Schema> {
  readonly name: string;
  readonly configSchema: Config;
  /**
   * Cheap: no network, no heavy imports. With a configuration, descriptions may name what it
   * configures; names, effects and accepted arguments are the same.
   */
  describe(config?: OutputOf<Config>): readonly ToolSpec[];
  /** For the server's `instructions`: what a model cannot guess, such as configured names. Short. */
  instructions?(config: OutputOf<Config>): string;
  /** A method, not a property: a host keeps packs of many configurations in one list. */
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
  /** A JSON Schema that the text has to follow, where the model can be held to one. */
  readonly responseSchema?: Readonly<Record<string, unknown>>;
}

/** The surroundings of the call that asks; a ToolContext fits. */
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

/** What arrives while a text is being written. The last event is `done` or `failed`. */
export type TextEvent =
  | { readonly type: 'text'; readonly text: string }
  /** What came so far is void: the model has started again. */
  | { readonly type: 'restart' }
  | { readonly type: 'done'; readonly completion: TextCompletion }
  | { readonly type: 'failed'; readonly fault: Fault; readonly partialText: string };

/** What a pack may ask of a language model, whichever it is. Failures are values, not exceptions. */
export interface TextModel {
  readonly name: string;
  readonly complete: (
    request: TextRequest,
    context: TextContext,
  ) => Promise<Outcome<TextCompletion>>;
  readonly stream: (request: TextRequest, context: TextContext) => AsyncIterable<TextEvent>;
}
