import type { Fault, Outcome } from '@toolkeel/kernel';

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
