import type { TextMessage, TextPart, TextRequest, TextUsage } from '@toolkeel/contract';
import type {
  Content,
  GenerateContentConfig,
  GenerateContentResponseUsageMetadata,
  Part,
} from '@google/genai';
import { compact, countOf } from '@toolkeel/pack-kit/base';
import type { ProviderResult } from '../core/provider.js';

export function toContents(messages: readonly TextMessage[]): Content[] {
  return messages.map(({ role, content }) => ({
    role: role === 'assistant' ? 'model' : 'user',
    parts: typeof content === 'string' ? [{ text: content }] : content.map(toPart),
  }));
}

function toPart(part: TextPart): Part {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'image':
      return { inlineData: { mimeType: part.mediaType, data: part.data } };
    case 'tool_call':
      return { functionCall: { id: part.id, name: part.name, args: { ...part.arguments } } };
    case 'tool_result': {
      const response = { [part.isError ? 'error' : 'output']: part.content };
      return { functionResponse: { id: part.callId, name: part.name, response } };
    }
  }
}

const thinkingTokens = { off: 0, low: 1_024, medium: 8_192, high: 24_576 } as const;

export function toConfig(request: TextRequest): GenerateContentConfig {
  const { system, maxOutputTokens, temperature, responseSchema, tools, thinking } = request;
  return {
    ...(system !== undefined && { systemInstruction: system }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(responseSchema && {
      responseMimeType: 'application/json',
      responseJsonSchema: responseSchema,
    }),
    // The API refuses an empty list.
    ...(tools?.length && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, parameters }) => ({
            name,
            description,
            parametersJsonSchema: parameters,
          })),
        },
      ],
    }),
    ...(thinking && {
      thinkingConfig: {
        includeThoughts: thinking !== 'off',
        thinkingBudget: thinkingTokens[thinking],
      },
    }),
    // The SDK must not run tools or loops of its own.
    automaticFunctionCalling: { disable: true },
  };
}

const finishes: Readonly<Record<string, ProviderResult['finish']>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  LANGUAGE: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
  IMAGE_SAFETY: 'filtered',
};

export function toFinish(reason: string, hasToolCalls: boolean): ProviderResult['finish'] {
  const finish = finishes[reason] ?? 'other';
  return finish === 'stop' && hasToolCalls ? 'tool_calls' : finish;
}

/** In US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

export function toUsage(
  metadata: GenerateContentResponseUsageMetadata,
  price: Price | undefined,
): TextUsage {
  const inputTokens = countOf(metadata.promptTokenCount) ?? 0;
  const thoughtTokens = countOf(metadata.thoughtsTokenCount) ?? 0;
  const outputTokens = (countOf(metadata.candidatesTokenCount) ?? 0) + thoughtTokens;
  return compact({
    inputTokens,
    outputTokens,
    thinkingTokens: thoughtTokens > 0 ? thoughtTokens : undefined,
    cachedInputTokens: countOf(metadata.cachedContentTokenCount),
    costUsd: price && (inputTokens * price.input + outputTokens * price.output) / 1_000_000,
  });
}
