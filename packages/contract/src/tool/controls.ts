import * as z from 'zod';
import { toJsonSchema } from './schema.js';
import type { Arguments } from './spec.js';
import type { ToolSpec } from './tool.js';

/** 16 to 255 characters that survive every header, log and shell unharmed. */
export const idempotencyKeySchema = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{16,255}$/, 'must be 16 to 255 of A-Z a-z 0-9 _ . : -');

const controlShape = {
  idempotency_key: idempotencyKeySchema
    .describe('Names this act. A repeat with the same key gives the first result and acts no more.')
    .optional(),
  allow_duplicate: z
    .boolean()
    .describe('The same content again is meant, and not a repeat.')
    .optional(),
};

/** What the caller said to the journal. */
export interface Controls {
  readonly idempotencyKey?: string;
  readonly allowDuplicate: boolean;
}

/**
 * The tool with `idempotency_key` and `allow_duplicate` among its arguments, for a host that has a
 * journal: without one they would be a promise that nobody keeps. A journal keeps every mutation, so
 * every one of them can be named, and its description alone says whether it is one. What only reads
 * comes back as it is.
 */
export function acceptControls<T extends ToolSpec>(tool: T): T {
  if (tool.controls || !tool.mutation) return tool;
  const input = (tool.input as z.ZodObject).safeExtend(controlShape);
  const inputSchema = toJsonSchema(input, 'input');
  return Object.freeze({ ...tool, input, inputSchema, controls: true });
}

/** Takes the journal's arguments out of those that the handler gets. */
export function splitControls(parsed: Arguments): { args: Arguments; controls: Controls } {
  const { idempotency_key: key, allow_duplicate: duplicate, ...args } = parsed;
  const allowDuplicate = duplicate === true;
  const controls =
    typeof key === 'string' ? { idempotencyKey: key, allowDuplicate } : { allowDuplicate };
  return { args, controls };
}

/** Arguments that speak to the journal and not to the tool. No tool may have its own by that name. */
export const CONTROL_ARGUMENTS = Object.freeze(['idempotency_key', 'allow_duplicate'] as const);
