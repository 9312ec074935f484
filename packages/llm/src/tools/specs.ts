import { specifyTool } from '@toolkeel/contract';
import { modelCodes } from '@toolkeel/pack-kit/base';
import * as z from 'zod';

const provider = z.enum(['claude', 'gemini']);
const tokens = z.int().min(0);

export const completeSpec = specifyTool({
  name: 'llm_complete',
  title: 'Ask a language model',
  description:
    'Asks a language model and returns its answer. Without a provider, the configured ones are tried in order.',
  category: 'llm',
  effect: 'read',
  requires: ['llm'],
  errors: modelCodes,
  input: z.object({
    prompt: z.string().min(1).max(1_000_000),
    system: z.string().max(200_000).optional(),
    history: z
      .array(z.object({ role: z.enum(['user', 'assistant']), text: z.string() }))
      .max(200)
      .optional()
      .describe('Earlier messages, oldest first.'),
    images: z
      .array(z.object({ media_type: z.string(), data: z.base64() }))
      .max(20)
      .optional(),
    provider: provider.optional(),
    model: z.string().min(1).max(200).optional().describe('Default: the configured one.'),
    max_output_tokens: z.int().min(1).max(1_000_000).optional(),
    temperature: z.number().min(0).max(2).optional(),
    json_schema: z.record(z.string(), z.json()).optional().describe('Schema of a JSON answer.'),
    thinking: z.enum(['off', 'low', 'medium', 'high']).optional(),
  }),
  output: z.strictObject({
    text: z.string(),
    provider: z.string(),
    model: z.string().describe('The model that answered.'),
    finish: z.enum(['stop', 'length', 'filtered', 'tool_calls', 'other']),
    attempts: z.int(),
    usage: z
      .strictObject({
        input_tokens: tokens,
        output_tokens: tokens,
        thinking_tokens: tokens.optional(),
        cached_input_tokens: tokens.optional(),
        cost_usd: z.number().optional(),
      })
      .optional(),
    request_id: z.string().optional(),
  }),
});

export const healthSpec = specifyTool({
  name: 'llm_health',
  title: 'Health of the language models',
  description: 'Reports whether the configured language models can be used, without using them.',
  category: 'health',
  effect: 'read',
  errors: [],
  input: z.object({}),
  output: z.strictObject({
    models: z.array(
      z.strictObject({
        provider: z.string(),
        model: z.string(),
        state: z.enum(['healthy', 'degraded', 'down', 'unknown']),
        detail: z.string(),
        advice: z.string().optional(),
        circuit: z.string(),
      }),
    ),
  }),
});

export const modelsSpec = specifyTool({
  name: 'llm_models',
  title: 'Available language models',
  description: 'Lists the models of the configured providers.',
  category: 'llm',
  effect: 'read',
  requires: ['llm'],
  errors: ['llm_not_configured'],
  input: z.object({ provider: provider.optional() }),
  output: z.strictObject({
    models: z.array(
      z.strictObject({
        provider: z.string(),
        id: z.string(),
        description: z.string().optional(),
        input_tokens: tokens.optional(),
        output_tokens: tokens.optional(),
      }),
    ),
    problems: z
      .array(z.strictObject({ provider: z.string(), message: z.string() }))
      .describe('Providers that could not be asked.'),
  }),
});

export const specs = Object.freeze([completeSpec, healthSpec, modelsSpec]);
