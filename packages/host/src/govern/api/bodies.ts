import { readRequestBody } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { ApiProblem } from './problem.js';

const BODY_LIMIT = 256 * 1024;

const actor = z
  .string()
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u,
    'must be a name of at most 100 letters and digits',
  )
  .default('console');
const reason = z.string().max(500).optional();
const hash = z.string().min(1).max(200);

export const decisionBody = z.strictObject({ hash, by: actor, reason });
export const editBody = z.strictObject({
  hash,
  by: actor,
  changes: z.record(z.string(), z.unknown()).default({}),
  remove: z.array(z.string()).default([]),
});
export const resolutionBody = z.strictObject({
  outcome: z.enum(['executed', 'not_executed']),
  by: actor,
  reason,
  data: z.unknown().optional(),
});

/** What was sent, if it is JSON and has this shape. A form that a page submits is neither. */
export async function readBody<T extends z.ZodType>(
  request: Request,
  schema: T,
): Promise<z.output<T>> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new ApiProblem(
      415,
      'not_json',
      'The request must be JSON.',
      'Send content-type: application/json.',
    );
  }
  const body = await readRequestBody(request, BODY_LIMIT);
  if (body.tooLarge) {
    const message = `A request may have ${BODY_LIMIT} bytes.`;
    throw new ApiProblem(413, 'too_large', message, 'Send less.');
  }
  const parsed = schema.safeParse(jsonOf(body.text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join('.') ?? '';
  const message = `${where || 'The body'}: ${issue?.message ?? 'is not valid'}`;
  throw new ApiProblem(400, 'invalid', message, 'Repair the request.');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ApiProblem(400, 'not_json', 'The body is not JSON.', 'Repair the request.');
  }
}
