import { isObject, type JsonObject } from '../json.js';
import type { Fault } from '../faults/injector.js';
import type { Exchange, Route, RouteContext } from '../server/upstream.js';
import { answerTo, piecesOf, type Answer, type Conversation, type Question } from './answers.js';
import { sseResponse, type SseEvent } from './stream.js';

export interface GeminiSettings {
  readonly apiKey: string;
  readonly models: readonly string[];
  readonly pauseMs: () => number;
  readonly conversation: Conversation;
}

const RPC = 'type.googleapis.com/google.rpc.';
const names: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** An error as Google's APIs report it. */
export function googleError(
  code: number,
  message: string,
  details: readonly JsonObject[] = [],
): JsonObject {
  return {
    error: {
      code,
      message,
      status: names[code] ?? 'UNKNOWN',
      ...(details.length > 0 && { details }),
    },
  };
}

const TYPE = { 'content-type': 'application/json; charset=UTF-8' };

const json = (status: number, body: JsonObject, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers: { ...TYPE, ...headers } });

export function geminiRoutes(settings: GeminiSettings): Route[] {
  const authorized =
    (handle: (context: RouteContext) => Response | Promise<Response>) =>
    (context: RouteContext): Response | Promise<Response> => {
      if (context.req.header('x-goog-api-key') === settings.apiKey) return handle(context);
      const info = {
        '@type': `${RPC}ErrorInfo`,
        reason: 'API_KEY_INVALID',
        domain: 'googleapis.com',
      };
      return json(400, googleError(400, 'API key not valid.', [info]));
    };
  const generate = authorized(async ({ env, req }) => {
    const [model = '', method = ''] = (req.param('call') ?? '').split(':');
    if (!settings.models.includes(model)) {
      return json(404, googleError(404, `models/${model} is not found for API version v1beta.`));
    }
    const rejected = rejection(env);
    if (rejected) return rejected;
    const body: unknown = await req.json().catch(() => undefined);
    const question = isObject(body) ? questionFrom(body, model) : undefined;
    if (!question || !isObject(body))
      return json(400, googleError(400, 'Request contains no contents.'));
    const id = `gemini-${env.request}`;
    if (env.inject('llm-blocked')) {
      return respond(
        [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }],
        method,
        settings,
        env,
        0,
      );
    }
    const answer = answerTo(question, settings.conversation.note(body as JsonObject));
    return respond(chunksOf(answer, model, id), method, settings, env, 0);
  });
  return [
    {
      name: 'gemini-models',
      method: 'GET',
      path: '/v1beta/models',
      handle: authorized(() => json(200, { models: settings.models.map(modelOf) })),
    },
    {
      name: 'gemini-model',
      method: 'GET',
      path: '/v1beta/models/:name',
      handle: authorized(({ req }) => {
        const name = req.param('name') ?? '';
        return settings.models.includes(name)
          ? json(200, modelOf(name))
          : json(404, googleError(404, `models/${name} is not found for API version v1beta.`));
      }),
    },
    {
      name: 'gemini-generate',
      method: 'POST',
      path: '/v1beta/models/:call{.+:generateContent}',
      handle: generate,
    },
    {
      name: 'gemini-stream',
      method: 'POST',
      path: '/v1beta/models/:call{.+:streamGenerateContent}',
      handle: generate,
    },
  ];
}

const modelOf = (name: string): JsonObject => ({
  name: `models/${name}`,
  displayName: name,
  description: `${name} of the sandbox`,
  inputTokenLimit: 1_048_576,
  outputTokenLimit: 65_536,
  supportedGenerationMethods: ['generateContent', 'countTokens'],
});

function respond(
  chunks: readonly Chunk[],
  method: string,
  { pauseMs }: GeminiSettings,
  exchange: Exchange,
  head: number,
): Response {
  const headers = { 'x-request-id': `req-${exchange.request}` };
  if (method === 'generateContent') {
    if (exchange.inject('llm-error-event')) return json(200, overloaded(), headers);
    return json(200, mergeChunks(chunks, exchange), headers);
  }
  const events = chunks.map((data): SseEvent => ({ data }));
  const error = { data: overloaded() };
  return sseResponse({ events, head, finish: 1, error, pauseMs: pauseMs() }, exchange, headers);
}

const overloaded = (): JsonObject => googleError(503, 'The model is overloaded. Try again later.');

/** The unary response has all parts of the stream. */
function mergeChunks(chunks: readonly Chunk[], exchange: Exchange): JsonObject {
  const last = chunks.at(-1);
  const candidates = chunks.flatMap((chunk) => chunk.candidates ?? []);
  if (candidates.length === 0) return { ...last };
  const parts = candidates.flatMap(({ content }) => content.parts);
  const cut = exchange.inject('llm-no-finish') !== undefined;
  const finishReason = candidates.at(-1)?.finishReason;
  const content = { role: 'model', parts };
  return { ...last, candidates: [{ index: 0, content, ...(!cut && { finishReason }) }] };
}

/** One event of the stream. */
interface Chunk extends JsonObject {
  readonly candidates?: readonly {
    readonly index: number;
    readonly content: { readonly role: string; readonly parts: readonly JsonObject[] };
    readonly finishReason?: string;
  }[];
}

function chunksOf(answer: Answer, model: string, responseId: string): Chunk[] {
  const { thinking, text, toolCall, inputTokens, outputTokens, thinkingTokens, isCut } = answer;
  const usageMetadata = {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    ...(thinkingTokens > 0 && { thoughtsTokenCount: thinkingTokens }),
    totalTokenCount: inputTokens + outputTokens + thinkingTokens,
  };
  const chunk = (part: JsonObject): Chunk => ({
    candidates: [{ index: 0, content: { role: 'model', parts: [part] } }],
    modelVersion: model,
    responseId,
  });
  const chunks = [
    ...(thinking === undefined ? [] : [chunk({ text: thinking, thought: true })]),
    ...(text === '' ? [] : piecesOf(text).map((piece) => chunk({ text: piece }))),
    ...(toolCall ? [chunk({ functionCall: { id: `${responseId}-call`, ...toolCall } })] : []),
  ];
  const finishReason = isCut ? 'MAX_TOKENS' : 'STOP';
  return [
    ...chunks,
    {
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: '' }] }, finishReason }],
      usageMetadata,
      modelVersion: model,
      responseId,
    },
  ];
}

function questionFrom(
  body: Readonly<Record<string, unknown>>,
  model: string,
): Question | undefined {
  const { contents, tools, generationConfig = {} } = body;
  const last: unknown = Array.isArray(contents) ? contents.at(-1) : undefined;
  if (!isObject(last) || !Array.isArray(last['parts']) || !isObject(generationConfig))
    return undefined;
  const parts = (last['parts'] as unknown[]).filter(isObject);
  const hasResult = parts.some((part) => 'functionResponse' in part);
  const { thinkingConfig, maxOutputTokens, responseJsonSchema } = generationConfig;
  return {
    model,
    text: parts
      .map(({ text }) => (typeof text === 'string' ? text : ''))
      .join(' ')
      .trim(),
    wantsThinking: isObject(thinkingConfig) && thinkingConfig['includeThoughts'] === true,
    maxTokens: typeof maxOutputTokens === 'number' ? maxOutputTokens : undefined,
    tool: hasResult ? undefined : firstTool(tools),
    schema: responseJsonSchema,
    images: parts.filter((part) => 'inlineData' in part).length,
  };
}

function firstTool(tools: unknown): Question['tool'] {
  const [first] = (Array.isArray(tools) ? tools : []) as unknown[];
  const declared = isObject(first) ? first['functionDeclarations'] : undefined;
  const [tool] = (Array.isArray(declared) ? declared : []) as unknown[];
  if (!isObject(tool) || typeof tool['name'] !== 'string') return undefined;
  return { name: tool['name'], schema: tool['parametersJsonSchema'] };
}

/** The rejections, each with its own form of the time to wait. */
function rejection(exchange: Exchange): Response | undefined {
  const limited = googleError(429, 'Resource has been exhausted (e.g. check quota).');
  const ms = exchange.inject('llm-429-retry-after-ms');
  if (ms) return json(429, limited, { 'retry-after-ms': String(waitMs(ms)) });
  const info = exchange.inject('llm-429-retry-info');
  if (info) return json(429, quotaError('PerMinute', waitMs(info)));
  const day = exchange.inject('llm-429-day');
  if (day) return json(429, quotaError('PerDay', waitMs(day)));
  if (exchange.inject('llm-429-no-retry')) return json(429, limited, { 'x-should-retry': 'false' });
  if (!exchange.inject('llm-billing')) return undefined;
  const reason = {
    '@type': `${RPC}ErrorInfo`,
    reason: 'BILLING_DISABLED',
    domain: 'googleapis.com',
  };
  return json(403, googleError(403, 'This API method requires billing to be enabled.', [reason]));
}

function quotaError(per: 'PerMinute' | 'PerDay', retryMs: number): JsonObject {
  const quotaId = `GenerateRequests${per}PerProjectPerModel-FreeTier`;
  return googleError(429, 'You exceeded your current quota.', [
    { '@type': `${RPC}QuotaFailure`, violations: [{ quotaId, quotaValue: '20' }] },
    { '@type': `${RPC}RetryInfo`, retryDelay: `${retryMs / 1000}s` },
  ]);
}

/** The wait that a rule's `retry-after` sets; 100 ms without one. */
function waitMs({ retryAfter }: Fault): number {
  return retryAfter && 'seconds' in retryAfter ? retryAfter.seconds * 1000 : 100;
}
