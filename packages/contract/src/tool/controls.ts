import * as z from 'zod';
import type { Arguments, JsonSchema } from './spec.js';
import type { ToolSpec } from './tool.js';

/** Arguments of the journal. A tool must not define arguments with these names. */
export const CONTROL_ARGUMENTS = Object.freeze(['idempotency_key', 'allow_duplicate'] as const);

/** 16 to 255 characters that are safe in headers, logs and shells. */
export const idempotencyKeySchema = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{16,255}$/, 'must be 16 to 255 of A-Z a-z 0-9 _ . : -');

const controlShape = {
  idempotency_key: idempotencyKeySchema.optional(),
  allow_duplicate: z.boolean().optional(),
};

/** As short as possible, because every mutation lists them; the host's instructions explain them once. */
const controlSchemas: JsonSchema = {
  idempotency_key: {
    type: 'string',
    minLength: 16,
    description: 'A repeat returns the first result.',
  },
  allow_duplicate: { type: 'boolean' },
};

/** Explains the control arguments to a model, once per server. */
export const CONTROLS_EXPLAINED =
  'Tools that change something accept idempotency_key (16 to 255 of A-Z a-z 0-9 _ . : -), which names the act: a repeat with the same key returns the first result and does not act again. A repeat of the same arguments shortly afterwards is recognised without a key. Set allow_duplicate only if a second act is intended.';

/** The control arguments of a call. */
export interface Controls {
  readonly idempotencyKey?: string;
  readonly allowDuplicate: boolean;
}

/**
 * Adds `idempotency_key` and `allow_duplicate` to the arguments of a mutation, for a host with a
 * journal. Returns a read, and a tool that acts through others, unchanged.
 */
export function acceptControls<T extends ToolSpec>(tool: T): T {
  if (tool.controls || !tool.mutation || tool.delegates) return tool;
  const input = (tool.input as z.ZodObject).safeExtend(controlShape);
  const { properties } = tool.inputSchema as { readonly properties?: JsonSchema };
  const inputSchema = { ...tool.inputSchema, properties: { ...properties, ...controlSchemas } };
  return Object.freeze({ ...tool, input, inputSchema, controls: true });
}

/** Separates the control arguments from those of the handler. */
export function splitControls(parsed: Arguments): { args: Arguments; controls: Controls } {
  const { idempotency_key: key, allow_duplicate: duplicate, ...args } = parsed;
  const allowDuplicate = duplicate === true;
  const controls =
    typeof key === 'string' ? { idempotencyKey: key, allowDuplicate } : { allowDuplicate };
  return { args, controls };
}
