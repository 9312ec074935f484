import type { GenerateContentResponse, GoogleGenAI } from '@google/genai';
import { llmAdapters, systemClock, type Clock } from '@toolkeel/kernel';
import type { ModelOptions } from '../core/channel.js';
import type { Timeouts } from '../core/clocks.js';
import { createModel, type Model } from '../core/model.js';
import {
  notConfigured,
  type AttemptIo,
  type ModelRequest,
  type Provider,
  type ProviderResult,
} from '../core/provider.js';
import {
  ConfigError,
  createRedactor,
  isObject,
  readSecret,
  type Environment,
  type SecretSource,
} from '@toolkeel/pack-kit/base';
import { toConfig, toContents, toFinish, toUsage, type Price } from './convert.js';
import { badResponse, blocked, faultOfError, GEMINI, incomplete } from './faults.js';
import { createTransport, type Transport } from './transport.js';

export interface GeminiOptions extends ModelOptions {
  /** Where the key is: `{ env }`, or `{ file }` with mode 600. Default: TOOLKEEL_GEMINI_API_KEY, then GEMINI_API_KEY. */
  readonly apiKey?: SecretSource;
  /** Default: gemini-2.5-flash. */
  readonly model?: string;
  readonly baseUrl?: string;
  /** Request the whole response at once instead of as a stream, for proxies that cannot stream. */
  readonly unary?: boolean;
  /** In US dollars per million tokens, by model. Without a price, no cost is reported. */
  readonly prices?: Readonly<Record<string, Price>>;
  readonly env?: Environment;
}

/** 90 s without a byte: until the response begins, and between its bytes. */
const SILENCE_MS = llmAdapters.gemini.idleTimeoutMs ?? 90_000;

const timeouts: Timeouts = {
  connectMs: 10_000,
  headersMs: SILENCE_MS,
  firstContentMs: 120_000,
  byteIdleMs: SILENCE_MS,
  contentIdleMs: 120_000,
};

const DEFAULT_MODEL = 'gemini-2.5-flash';
const DEFAULT_URL = 'https://generativelanguage.googleapis.com/';

/** After the finish mark, the connection may still deliver usage; it is not waited for longer. */
const DRAIN_MS = 250;

/** Google's Gemini API. */
export function gemini(options: GeminiOptions = {}): Model {
  return createModel(geminiProvider(options), options);
}

function geminiProvider(options: GeminiOptions): Provider {
  const { clock = systemClock, env = process.env } = options;
  const model = options.model ?? DEFAULT_MODEL;
  const connectMs = options.timeouts?.connectMs ?? timeouts.connectMs;
  let client: Promise<{ sdk: GoogleGenAI; transport: Transport }> | undefined;
  // Loaded on first use: the SDK is large.
  const load = () => (client ??= loadClient(options, env, connectMs, clock));
  const client_ = async () => {
    try {
      return await load();
    } catch (cause) {
      client = undefined;
      throw cause;
    }
  };
  return {
    name: GEMINI,
    model,
    serves: (name) => name === model || /^(models\/)?(gemini|gemma|learnlm)/.test(name),
    timeouts,
    run: async (request, io) => {
      const { sdk, transport } = await client_();
      io.begin();
      const attempt = new GeminiAttempt(request, io, options.prices?.[request.model]);
      const responses = await start(sdk, request, transport.fetchFor(io), options.unary ?? false);
      return attempt.read(responses, clock);
    },
    health: async (signal) => {
      const { sdk, transport } = await client_();
      const fetch = transport.fetchFor(unwatched(signal));
      try {
        await sdk.models.get({ model, config: { httpOptions: { fetch }, abortSignal: signal } });
        return { state: 'healthy', detail: `${model} is available` };
      } catch (cause) {
        const { code, message } = faultOfError(cause);
        const isTransient = ['network', 'connect', 'server_error', 'overloaded'].includes(code);
        const detail = message === '' ? `the check failed: ${code}` : message;
        if (isTransient || code === 'rate_limited') return { state: 'degraded', detail };
        return { state: 'down', detail, advice: advice(code) };
      }
    },
    models: async (signal) => {
      const { sdk, transport } = await client_();
      const fetch = transport.fetchFor(unwatched(signal));
      const found = [];
      const pages = await sdk.models.list({
        config: { httpOptions: { fetch }, abortSignal: signal, pageSize: 100 },
      });
      for await (const { name = '', description, inputTokenLimit, outputTokenLimit } of pages) {
        found.push({
          id: name.replace(/^models\//, ''),
          ...(description !== undefined && { description }),
          ...(inputTokenLimit !== undefined && { inputTokens: inputTokenLimit }),
          ...(outputTokenLimit !== undefined && { outputTokens: outputTokenLimit }),
        });
      }
      return found;
    },
    close: async () => {
      const loaded = await client?.catch(() => undefined);
      await loaded?.transport.close();
    },
  };
}

const advice = (code: string): string =>
  code === 'auth'
    ? 'Set TOOLKEEL_GEMINI_API_KEY to a key that Gemini accepts.'
    : 'Check the model name and the base URL.';

async function loadClient(
  { apiKey, baseUrl = DEFAULT_URL }: GeminiOptions,
  env: Environment,
  connectMs: number | undefined,
  clock: Clock,
) {
  const source = apiKey ?? defaultKey(env);
  if (!source) {
    throw notConfigured('Gemini has no API key. Set TOOLKEEL_GEMINI_API_KEY or GEMINI_API_KEY');
  }
  const key = keyFrom(source, env);
  const secrets = createRedactor();
  secrets.add(key);
  const { GoogleGenAI } = await import('@google/genai');
  // No retryOptions: without them the SDK retries nothing. No timeout: it would be a total, not an idle one.
  const sdk = new GoogleGenAI({
    apiKey: key,
    vertexai: false,
    // Always set: the SDK would take another address from the process's environment.
    httpOptions: { baseUrl },
  });
  return { sdk, transport: createTransport({ connectMs, clock, secrets }) };
}

function keyFrom(source: SecretSource, env: Environment): string {
  try {
    return readSecret(source, 'gemini.apiKey', env);
  } catch (cause) {
    throw cause instanceof ConfigError ? notConfigured(cause.message) : cause;
  }
}

export function defaultKey(env: Environment): SecretSource | undefined {
  const name = ['TOOLKEEL_GEMINI_API_KEY', 'GEMINI_API_KEY'].find((candidate) => env[candidate]);
  return name === undefined ? undefined : { env: name };
}

async function start(
  sdk: GoogleGenAI,
  request: ModelRequest,
  fetch: typeof globalThis.fetch,
  unary: boolean,
): Promise<AsyncIterable<GenerateContentResponse>> {
  const params = {
    model: request.model,
    contents: toContents(request.messages),
    config: { ...toConfig(request), httpOptions: { fetch } },
  };
  try {
    if (!unary) return await sdk.models.generateContentStream(params);
    const response = await sdk.models.generateContent(params);
    return (async function* () {
      yield await Promise.resolve(response);
    })();
  } catch (cause) {
    throw faultOfError(cause);
  }
}

/** A request that no clock watches: health and lists have a timeout of their own. */
function unwatched(signal: AbortSignal) {
  const nothing = (): void => undefined;
  return { signal, connected: nothing, headers: nothing, bytes: nothing };
}

/** Reads the responses of one attempt until the finish mark. */
class GeminiAttempt {
  readonly #io: AttemptIo;
  readonly #price: Price | undefined;
  #model: string;
  #requestId: string | undefined;
  #finish: string | undefined;
  #toolCalls = 0;

  constructor(request: ModelRequest, io: AttemptIo, price: Price | undefined) {
    this.#io = io;
    this.#price = price;
    this.#model = request.model;
  }

  async read(
    responses: AsyncIterable<GenerateContentResponse>,
    clock: Clock,
  ): Promise<ProviderResult> {
    const iterator: AsyncIterator<GenerateContentResponse, undefined> = responses[
      Symbol.asyncIterator
    ]() as never;
    try {
      for (;;) {
        const { done, value } = await iterator.next();
        if (done) throw incomplete(this.#requestId);
        this.#take(value);
        if (this.#finish !== undefined) break;
      }
    } catch (cause) {
      const fault = faultOfError(cause);
      // Only what was received is read here.
      if (fault.code !== 'internal') throw fault;
      throw badResponse('Gemini sent a response that is not of its format', cause);
    }
    this.#io.finished();
    await this.#drain(iterator, clock);
    return {
      finish: toFinish(this.#finish, this.#toolCalls > 0),
      model: this.#model,
      ...(this.#requestId !== undefined && { requestId: this.#requestId }),
    };
  }

  /** Reads to the end of the response, so that the connection can be used again. */
  #drain(iterator: AsyncIterator<GenerateContentResponse, undefined>, clock: Clock): Promise<void> {
    return new Promise((resolve) => {
      const timer = clock.setTimer(DRAIN_MS, resolve);
      const finish = (): void => {
        clock.clearTimer(timer);
        resolve();
      };
      const readOn = async (): Promise<void> => {
        for (;;) {
          const { done, value } = await iterator.next();
          if (done) return;
          this.#takeUsage(value);
        }
      };
      // The answer is complete: what happens to the connection now does not matter.
      readOn().then(finish, finish);
    });
  }

  #take(response: GenerateContentResponse): void {
    const { candidates, promptFeedback, modelVersion, responseId } = response;
    const [candidate] = candidates ?? [];
    if (modelVersion !== undefined) this.#model = modelVersion;
    this.#requestId = responseId ?? this.#requestId;
    if (!candidate && promptFeedback?.blockReason !== undefined) {
      throw blocked(promptFeedback.blockReason, this.#requestId);
    }
    for (const { text, thought, functionCall } of candidate?.content?.parts ?? []) {
      if (typeof text === 'string') {
        this.#io.emit({ type: thought ? 'thinking' : 'content', text });
      }
      if (functionCall) {
        const { id = `call_${this.#toolCalls}`, name = '', args } = functionCall;
        this.#toolCalls++;
        this.#io.emit({ type: 'tool_call', id, name, arguments: isObject(args) ? args : {} });
      }
    }
    this.#takeUsage(response);
    this.#finish = candidate?.finishReason ?? this.#finish;
  }

  #takeUsage({ usageMetadata }: GenerateContentResponse): void {
    if (!isObject(usageMetadata)) return;
    this.#io.emit({ type: 'usage', usage: toUsage(usageMetadata, this.#price) });
  }
}
