import { isObject, type Json, type JsonObject } from '../json.js';

/** What the imitated models answer: deterministic, and long enough to be streamed. */
export interface Answer {
  readonly thinking: string | undefined;
  readonly text: string;
  readonly toolCall: { readonly name: string; readonly args: JsonObject } | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly thinkingTokens: number;
  /** The answer was cut at the requested number of tokens. */
  readonly isCut: boolean;
}

export interface Question {
  readonly model: string;
  readonly text: string;
  readonly wantsThinking: boolean;
  readonly maxTokens: number | undefined;
  /** The first tool that the model may call, unless its result is already there. */
  readonly tool: { readonly name: string; readonly schema: unknown } | undefined;
  /** Answer with JSON of this schema. */
  readonly schema: unknown;
  readonly images: number;
}

/** A value that fits a simple JSON Schema. */
function sampleOf(schema: unknown, text: string): Json {
  if (!isObject(schema)) return text;
  const { type, properties, enum: values } = schema;
  if (Array.isArray(values)) return values[0] as Json;
  if (type === 'number' || type === 'integer') return 1;
  if (type === 'boolean') return true;
  if (type === 'array') return Array.from({ length: 5 }, () => sampleOf(schema['items'], text));
  if (type !== 'object') return text;
  const members = Object.entries(isObject(properties) ? properties : {});
  return Object.fromEntries(members.map(([name, member]) => [name, sampleOf(member, text)]));
}

const words = (text: string): string[] => text.split(/(?<=\s)/);

/** The requests for completions, and answers that a test has prepared for the next ones. */
export class Conversation {
  readonly #asked: JsonObject[] = [];
  #answers: readonly string[] = [];

  /** Notes a request and returns the prepared answer, if there is one. */
  note(body: JsonObject): string | undefined {
    this.#asked.push(body);
    if (this.#asked.length > MAX_ASKED) this.#asked.shift();
    const [next, ...rest] = this.#answers;
    this.#answers = rest;
    return next;
  }

  asked = (): readonly JsonObject[] => [...this.#asked];

  answerWith = (answers: readonly string[]): void => {
    this.#answers = answers;
  };
}

const MAX_ASKED = 1_000;

/** `prepared` replaces the sandbox's own words. */
export function answerTo(question: Question, prepared?: string): Answer {
  const { model, text, wantsThinking, tool, schema, images, maxTokens } = question;
  const asked = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  const seen = images > 0 ? ` I see ${images} image${images === 1 ? '' : 's'}.` : '';
  const sample = schema === undefined ? undefined : sampleOf(schema, `You asked: ${asked}`);
  const whole =
    prepared ??
    (sample !== undefined
      ? JSON.stringify(sample)
      : `You asked: ${asked}${seen} This answer comes from ${model} in the sandbox, one word at a time, so that a stream has something to carry.`);
  const pieces = words(whole);
  const isCut = maxTokens !== undefined && pieces.length > maxTokens;
  const thinking = wantsThinking ? 'The question is simple. I will repeat it.' : undefined;
  return {
    thinking,
    text: tool === undefined ? (isCut ? pieces.slice(0, maxTokens).join('') : whole) : '',
    toolCall:
      tool === undefined
        ? undefined
        : { name: tool.name, args: sampleOf(tool.schema, asked) as JsonObject },
    inputTokens: words(text).length,
    outputTokens: isCut ? maxTokens : pieces.length,
    thinkingTokens: thinking === undefined ? 0 : words(thinking).length,
    isCut,
  };
}

/** The parts of a text as a model streams them. */
export function piecesOf(text: string): string[] {
  const all = words(text);
  const size = Math.max(1, Math.ceil(all.length / 8));
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size).join(''),
  );
}
