import { expect } from 'vitest';
import * as z from 'zod';
import { envelopeSchema } from '../envelope/schema.js';
import { defineTool } from '../tool/define.js';
import type { Tool } from '../tool/tool.js';
import type { RunOptions } from './options.js';
import { runTool } from './run-tool.js';

/** The definition of a tool that reads. */
export const base = {
  name: 'get_item',
  title: 'Get',
  description: 'Gets.',
  category: 'read',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  input: z.object({ id: z.string().max(20), limit: z.int().max(100).default(10) }),
  output: z.object({ id: z.string(), n: z.number() }),
  errors: ['not_found', 'upstream_unavailable'],
  handler: ({ id, limit }: { id: string; limit: number }) => ({ id, n: limit }),
} as const;

/** The same, acting once. */
export const acting = { ...base, effect: 'once', profiles: ['api', 'workflow'] } as const;

export const reading = defineTool(base);

/** A tool with an untyped handler. */
export function toolWith(handler: () => unknown, more: object = {}): Tool {
  return defineTool({ ...base, ...more, handler: handler as () => { id: string; n: number } });
}

/** A function that throws any value. */
export function throwing(value: unknown): () => never {
  return () => {
    throw value;
  };
}

/** Runs a tool, checks the invariants of the result and returns the envelope. */
export async function run(tool: Tool, args: unknown, options: RunOptions = {}) {
  const result = await runTool(tool, args, options);
  expect(envelopeSchema.safeParse(JSON.parse(result.text)).error).toBeUndefined();
  expect(JSON.parse(result.text)).toEqual(JSON.parse(JSON.stringify(result.envelope)));
  expect(result.bytes).toBe(new TextEncoder().encode(result.text).length);
  return result.envelope;
}
