import * as z from 'zod';
import { toJsonSchema } from '../tool/json-schema.js';
import type { JsonSchema } from '../tool/spec.js';
import type { ToolSpec } from '../tool/tool.js';
import type { Profile } from './meta.js';
import { errorShape, plainMetaSchema, workflowMetaSchema } from './schema.js';

/**
 * The JSON Schema of a tool's whole answer in a profile: an object at the root, because clients of
 * the 2025 protocol demand one, and one of two shapes, because they also reject an error whose
 * content does not match. `meta` is described once, at the root, to keep the listing small.
 */
export function outputJsonSchema(
  tool: Pick<ToolSpec, 'output' | 'partial' | 'possibleCodes'>,
  profile: Profile,
): JsonSchema {
  const anyMeta = z.unknown();
  const shapes = z.discriminatedUnion('success', [
    z.strictObject({ success: z.literal(true), data: tool.output, meta: anyMeta }),
    z.strictObject({
      success: z.literal(false),
      data: tool.partial ? z.union([z.null(), tool.partial]) : z.null(),
      error: errorShape(tool.possibleCodes),
      meta: anyMeta,
    }),
  ]);
  const meta = profile === 'workflow' ? workflowMetaSchema : plainMetaSchema;
  return Object.freeze({
    type: 'object',
    properties: { success: { type: 'boolean' }, meta: toJsonSchema(meta, 'output') },
    required: ['success', 'data', 'meta'],
    ...toJsonSchema(shapes, 'output'),
  });
}
