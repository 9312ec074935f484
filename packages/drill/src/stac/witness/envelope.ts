import { envelopeSchema } from '@toolkeel/contract';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../rig/server.js';

/** What an envelope says that the drill goes by. */
export interface Told {
  readonly success: boolean;
  readonly code: string;
  readonly retries: number;
  /** Equal for equal data, wherever the upstream listens. */
  readonly digest: string;
}

export type Read =
  | { readonly ok: true; readonly told: Told }
  | { readonly ok: false; readonly why: string };

/** Reads answers as strictly as the contract is written. */
export function envelopeReader(outputSchemas: ReadonlyMap<string, object>) {
  // Formats are the contract's own schema's affair, which is asked as well.
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validators = new Map<string, ValidateFunction>(
    [...outputSchemas].map(([name, schema]) => [name, ajv.compile(schema)]),
  );
  return (tool: string, answer: Answer): Read => {
    if ('thrown' in answer) return wrong(`no result: ${answer.thrown}`);
    const { structuredContent: envelope, content, isError = false } = answer;
    const validate = validators.get(tool);
    if (!validate) return wrong('the tool declares no output schema');
    if (!validate(envelope)) return wrong(`output schema: ${ajv.errorsText(validate.errors)}`);
    const checked = envelopeSchema.safeParse(envelope);
    if (!checked.success) return wrong(`contract: ${checked.error.issues[0]?.message ?? ''}`);
    if (!isDeepStrictEqual(firstText(content), envelope)) return wrong('the text says otherwise');
    const { data } = checked;
    if (isError === data.success) return wrong('isError does not follow from success');
    return {
      ok: true,
      told: {
        success: data.success,
        code: data.success ? 'ok' : data.error.code,
        retries: data.meta.retry_count,
        digest: data.success ? digestOf(data.data) : '',
      },
    };
  };
}

function wrong(why: string): Read {
  return { ok: false, why };
}

function firstText(content: unknown): unknown {
  const [first] = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const text = typeof first === 'object' && first !== null && 'text' in first ? first.text : '';
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** Every arm has an upstream of its own, on a port of its own. */
const ORIGIN = /http:\/\/127\.0\.0\.1:\d+/g;

function digestOf(data: unknown): string {
  const text = JSON.stringify(data).replaceAll(ORIGIN, 'upstream');
  return createHash('sha256').update(text).digest('base64url');
}
