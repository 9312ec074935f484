import * as z from 'zod';
import { invalid } from '../problem/problem.js';

/** The body of a request, held against what it may be. */
export async function bodyIn<Value>(request: Request, schema: z.ZodType<Value>): Promise<Value> {
  const type = request.headers.get('content-type') ?? '';
  if (!type.toLowerCase().startsWith('application/json'))
    throw invalid('Requests with bodies must have content-type of application/json.');
  const text = await request.text();
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw invalid('Request body must be a JSON object.');
  }
  const checked = schema.safeParse(given);
  if (checked.success) return checked.data;
  throw invalid(checked.error.issues.map(messageOf).join('; '));
}

function messageOf({ path, message, ...issue }: z.core.$ZodIssue): string {
  const at = ['$', ...path.map(String)].join('.');
  if (issue.code !== 'unrecognized_keys') return `${at}: ${message}`;
  return issue.keys
    .map(
      (key) =>
        `${at}.${key}: is not defined in the schema and the schema does not allow additional properties`,
    )
    .join('; ');
}

export const idSchema = z
  .string()
  .regex(/^[0-9]{1,19}$/, 'does not match the regex pattern ^[0-9]{1,19}$');
