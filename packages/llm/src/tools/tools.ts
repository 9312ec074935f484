import {
  answer,
  implementTool,
  type OutputOf,
  type TextMessage,
  type TextRequest,
  type TextUsage,
  type Tool,
} from '@toolkeel/contract';
import { compact, modelErrorToToolError, modelNotConfigured } from '@toolkeel/pack-kit/base';
import type { LlmConfig } from '../config.js';
import { ProviderError } from '../core/errors.js';
import type { Model } from '../core/model.js';
import type { ConfiguredModels } from '../from-config.js';
import { completeSpec, healthSpec, modelsSpec } from './specs.js';

type CompleteArguments = OutputOf<typeof completeSpec.input>;

export function createTools(models: ConfiguredModels, config: LlmConfig): readonly Tool[] {
  const modelFor = (provider: string | undefined): Model | undefined =>
    provider === undefined ? models.chain : models.byProvider.get(provider);

  const complete = implementTool(completeSpec, {
    handler: async (args, context) => {
      const model = modelFor(args.provider);
      if (!model) return modelNotConfigured(true);
      try {
        const { signal, deadline, correlationId } = context;
        const request = requestOf(args);
        const completion = await model.complete(request, { signal, deadline, correlationId });
        const { text, provider, model: name, finish, attempts, usage, requestId } = completion;
        return answer(
          compact({
            text,
            provider,
            model: name,
            finish,
            attempts,
            usage: usage && usageOf(usage),
            request_id: requestId,
          }),
        );
      } catch (cause) {
        if (cause instanceof ProviderError && cause.code !== 'cancelled')
          return modelErrorToToolError(cause);
        throw cause;
      }
    },
    estimateCost: (args) => estimateCost(args, models, config),
  });

  const health = implementTool(healthSpec, {
    handler: async () => {
      const states = await Promise.all(
        [...models.byProvider.values()].map(async (model) => {
          const [state] = await model.health();
          const circuit = model.channels[0]?.upstream.circuit ?? 'closed';
          return state && { ...state, circuit };
        }),
      );
      return answer({ models: states.filter((state) => state !== undefined) });
    },
  });

  const list = implementTool(modelsSpec, {
    handler: async ({ provider }) => {
      const asked = [...models.byProvider].filter(([name]) => name === (provider ?? name));
      if (asked.length === 0) return modelNotConfigured(true);
      const lists = await Promise.allSettled(asked.map(([, model]) => model.models()));
      const found = lists.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      const problems = lists.flatMap((result, index) =>
        result.status === 'fulfilled'
          ? []
          : [{ provider: asked[index]?.[0] ?? '', message: messageOf(result.reason) }],
      );
      return answer({
        models: found.map(({ provider: name, id, description, inputTokens, outputTokens }) =>
          compact({
            provider: name,
            id,
            description,
            input_tokens: inputTokens,
            output_tokens: outputTokens,
          }),
        ),
        problems,
      });
    },
  });
  return [complete, health, list];
}

function requestOf(args: CompleteArguments): TextRequest {
  const { prompt, history = [], images = [] } = args;
  const last: TextMessage =
    images.length === 0
      ? { role: 'user', content: prompt }
      : {
          role: 'user',
          content: [
            ...images.map(({ media_type: mediaType, data }) => ({
              type: 'image' as const,
              mediaType,
              data,
            })),
            { type: 'text', text: prompt },
          ],
        };
  return compact({
    model: args.model,
    system: args.system,
    messages: [...history.map(({ role, text }) => ({ role, content: text })), last],
    maxOutputTokens: args.max_output_tokens,
    temperature: args.temperature,
    responseSchema: args.json_schema,
    thinking: args.thinking,
  });
}

const usageOf = ({
  inputTokens,
  outputTokens,
  thinkingTokens,
  cachedInputTokens,
  costUsd,
}: TextUsage) =>
  compact({
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    thinking_tokens: thinkingTokens,
    cached_input_tokens: cachedInputTokens,
    cost_usd: costUsd,
  });

const messageOf = (cause: unknown): string =>
  cause instanceof ProviderError ? cause.message : 'The provider could not be asked.';

/** Digits and rare characters take a token for each byte; nothing takes more. */
const TOKENS_PER_BYTE = 1;
const TOKENS_PER_IMAGE = 2_600;
/** What Gemini's models write at most if no limit is set, thinking included. */
const DEFAULT_OUTPUT_TOKENS = 65_536;

/**
 * An upper bound of one attempt for the models that may be asked, if the prices of all of them are
 * configured. Claude reports its cost afterwards only, so a request that may reach it has no estimate.
 */
function estimateCost(args: CompleteArguments, models: ConfiguredModels, { gemini }: LlmConfig) {
  const { provider, model, prompt, system = '', history = [], images = [] } = args;
  const asked = [...models.byProvider.keys()].filter((name) => name === (provider ?? name));
  const mayAskOther = asked.some((name) => name !== 'gemini') && !model?.startsWith('gemini');
  const price = gemini.prices[model ?? gemini.model];
  if (!price || mayAskOther || asked.length === 0) return undefined;
  const schema = args.json_schema ? JSON.stringify(args.json_schema) : '';
  const texts = [prompt, system, schema, ...history.map(({ text }) => text)];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const inputTokens = bytes * TOKENS_PER_BYTE + images.length * TOKENS_PER_IMAGE;
  const outputTokens = args.max_output_tokens ?? DEFAULT_OUTPUT_TOKENS;
  const amount = (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
  return { amount, unit: 'USD' };
}
