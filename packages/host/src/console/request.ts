import { readRequestBody } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { readLimit, readMoment } from '../governance/operator.js';
import { ApiError, invalid } from './errors.js';
import { OPERATOR_NAME } from './operator-name.js';

const BODY_LIMIT = 256 * 1024;

export const operatorName = z
  .string()
  .regex(OPERATOR_NAME, 'must be a name of at most 100 letters and digits');
export const reasonText = z.string().max(500).optional();

/** Reads and validates a JSON body. The content type is required, so that a web form cannot send one. */
export async function readBody<T extends z.ZodType>(
  request: Request,
  schema: T,
): Promise<z.output<T>> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    const advice = 'Send content-type: application/json.';
    throw new ApiError(415, 'not_json', 'The request must be JSON.', advice);
  }
  const body = await readRequestBody(request, BODY_LIMIT);
  if (body.tooLarge) {
    const message = `The request exceeds ${BODY_LIMIT} bytes.`;
    throw new ApiError(413, 'too_large', message, 'Send a smaller request.');
  }
  const parsed = schema.safeParse(parseJson(body.text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  throw invalid(`${field || 'The body'}: ${issue?.message ?? 'is not valid'}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ApiError(400, 'not_json', 'The body is not valid JSON.', 'Correct the request.');
  }
}

export type Query = Readonly<Record<string, string>>;

export function timeOf(query: Query, name: 'since' | 'until'): number | undefined {
  const given = query[name];
  return given === undefined ? undefined : readMoment(name, given, Date.now());
}

export function limitOf(query: Query, otherwise: number): number {
  const { limit } = query;
  return limit === undefined ? otherwise : readLimit(limit);
}

export function wholeNumber(query: Query, name: string): number | undefined {
  const given = query[name];
  if (given === undefined) return undefined;
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw invalid(`${name} must be a whole number`);
}

export function formatOf({ format = 'jsonl' }: Query): 'jsonl' | 'csv' {
  if (format === 'jsonl' || format === 'csv') return format;
  throw invalid('format must be jsonl or csv');
}

/** Sends a file line by line, as fast as the client reads it. */
export function fileResponse(
  lines: AsyncIterable<string>,
  name: string,
  format: 'jsonl' | 'csv',
  scrub: (text: string) => string,
): Response {
  const iterator = lines[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = await iterator.next();
      if (next.done) controller.close();
      else controller.enqueue(encoder.encode(scrub(next.value)));
    },
    cancel: async () => void (await iterator.return?.(undefined)),
  });
  return new Response(body, {
    headers: {
      'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
      'content-disposition': `attachment; filename="${name}.${format}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  });
}
