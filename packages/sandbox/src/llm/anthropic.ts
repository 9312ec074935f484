import { isObject, type JsonObject } from '../json.js';
import type { Exchange, Route } from '../server/upstream.js';
import { answerTo, piecesOf, type Answer, type Conversation, type Question } from './answers.js';
import { sseResponse, type SseEvent } from './stream.js';

export interface AnthropicSettings {
  readonly pauseMs: () => number;
  readonly conversation: Conversation;
}

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** An error as Anthropic's API reports it. */
export const anthropicError = (status: number, message: string): JsonObject => ({
  type: 'error',
  error: { type: types[status] ?? 'api_error', message },
});

const json = (status: number, body: JsonObject, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers });

export function anthropicRoutes({ pauseMs, conversation }: AnthropicSettings): Route[] {
  return [
    {
      name: 'messages',
      method: 'POST',
      path: '/v1/messages',
      handle: async ({ env, req }) => {
        const requestId = { 'request-id': `req_${env.request}` };
        const [scheme = ''] = (req.header('authorization') ?? '').split(' ');
        if (scheme !== 'Bearer' && req.header('x-api-key') === undefined) {
          return json(401, anthropicError(401, 'Missing credential'), requestId);
        }
        const rejected = rejection(env, requestId);
        if (rejected) return rejected;
        const body: unknown = await req.json().catch(() => undefined);
        const question = isObject(body) ? questionFrom(body) : undefined;
        if (!question || !isObject(body)) {
          return json(400, anthropicError(400, 'messages: Field required'), requestId);
        }
        const answer = answerTo(question, conversation.note(body as JsonObject));
        const id = `msg_${env.request}`;
        const message = messageOf(answer, question.model, id);
        if (body['stream'] !== true) return json(200, message, requestId);
        const events = eventsOf(answer, message, id);
        const overloaded = { event: 'error', data: anthropicError(529, 'Overloaded') };
        const plan = { events, head: 2, finish: 2, error: overloaded, pauseMs: pauseMs() };
        return sseResponse(plan, env, requestId);
      },
    },
  ];
}

const usageOf = ({ inputTokens, outputTokens }: Answer): JsonObject => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
});

function messageOf(answer: Answer, model: string, id: string): JsonObject {
  const { text, thinking, toolCall } = answer;
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(thinking === undefined ? [] : [{ type: 'thinking', thinking, signature: 'sandbox' }]),
      toolCall
        ? { type: 'tool_use', id: `${id}_tool`, name: toolCall.name, input: toolCall.args }
        : { type: 'text', text },
    ],
    stop_reason: stopReason(answer),
    stop_sequence: null,
    usage: usageOf(answer),
  };
}

function stopReason({ toolCall, isCut }: Answer): string {
  if (toolCall) return 'tool_use';
  return isCut ? 'max_tokens' : 'end_turn';
}

function eventsOf(answer: Answer, message: JsonObject, id: string): SseEvent[] {
  const { thinking, text, toolCall } = answer;
  const event = (type: string, rest: JsonObject = {}): SseEvent => ({
    event: type,
    data: { type, ...rest },
  });
  const block = (index: number, start: JsonObject, deltas: readonly JsonObject[]): SseEvent[] => [
    event('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
  const blocks = [
    ...(thinking === undefined
      ? []
      : block(0, { type: 'thinking', thinking: '', signature: '' }, [
          { type: 'thinking_delta', thinking },
          { type: 'signature_delta', signature: 'sandbox' },
        ])),
    ...block(
      thinking === undefined ? 0 : 1,
      toolCall
        ? { type: 'tool_use', id: `${id}_tool`, name: toolCall.name, input: {} }
        : { type: 'text', text: '' },
      toolCall
        ? [{ type: 'input_json_delta', partial_json: JSON.stringify(toolCall.args) }]
        : piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece })),
    ),
  ];
  const started = { ...message, content: [], stop_reason: null };
  const delta = { stop_reason: stopReason(answer), stop_sequence: null };
  return [
    event('message_start', { message: started }),
    event('ping'),
    ...blocks,
    event('message_delta', { delta, usage: usageOf(answer) }),
    event('message_stop'),
  ];
}

function questionFrom(body: Readonly<Record<string, unknown>>): Question | undefined {
  const { messages, model, max_tokens: maxTokens, thinking, tools } = body;
  // Newer clients add messages of the role `system` behind the user's.
  const last: unknown = (Array.isArray(messages) ? (messages as unknown[]) : []).findLast(
    (message) => isObject(message) && message['role'] === 'user',
  );
  if (!isObject(last) || typeof model !== 'string') return undefined;
  const { content } = last;
  const blocks = (Array.isArray(content) ? (content as unknown[]) : []).filter(isObject);
  const texts = blocks.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  return {
    model,
    // Older clients put reminders before the user's own words.
    text: typeof content === 'string' ? content : (texts.at(-1) ?? ''),
    wantsThinking: isObject(thinking) && thinking['type'] !== 'disabled',
    maxTokens: typeof maxTokens === 'number' ? maxTokens : undefined,
    tool: blocks.some(isToolResult) ? undefined : firstTool(tools),
    schema: undefined,
    images: blocks.filter(({ type }) => type === 'image').length,
  };
}

/** Through the CLI, which takes only texts of the user, a result comes as JSON. */
const isToolResult = ({ type, text }: Readonly<Record<string, unknown>>): boolean =>
  type === 'tool_result' || (typeof text === 'string' && text.startsWith('{"type":"tool_result"'));

/** The tool through which the CLI asks for JSON, or a tool of the caller. The CLI's own are never called. */
function firstTool(tools: unknown): Question['tool'] {
  const all = (Array.isArray(tools) ? (tools as unknown[]) : []).filter(isObject);
  const found = all.find(({ name }) => /^(StructuredOutput$|mcp__)/.test(String(name)));
  return found && { name: String(found['name']), schema: found['input_schema'] };
}

function rejection(
  exchange: Exchange,
  requestId: Readonly<Record<string, string>>,
): Response | undefined {
  const limited = anthropicError(429, 'This request would exceed your rate limit.');
  const ms = exchange.inject('llm-429-retry-after-ms');
  if (ms) return json(429, limited, { ...requestId, 'retry-after-ms': '100' });
  if (exchange.inject('llm-429-no-retry')) {
    return json(429, limited, { ...requestId, 'x-should-retry': 'false' });
  }
  const plan = exchange.inject('llm-429-plan');
  if (plan) return json(429, limited, { ...requestId, ...planLimit(plan.retryAfter) });
  if (!exchange.inject('llm-billing')) return undefined;
  return json(400, anthropicError(402, 'Your credit balance is too low.'), requestId);
}

/** The headers of a subscription whose five-hour window is used up. */
function planLimit(retryAfter: unknown): Record<string, string> {
  const seconds = isObject(retryAfter) ? Number(retryAfter['seconds']) : 3600;
  return {
    'retry-after': String(seconds),
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': String(Math.ceil(Date.now() / 1000 + seconds)),
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  };
}
