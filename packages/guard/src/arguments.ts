import { Ajv, type ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A flaw of the arguments, as in the details of `validation_error`. */
interface ArgumentIssue {
  readonly field: string;
  readonly message: string;
}

/** Returns the flaws of arguments; none if they are valid. */
export type CheckArguments = (args: unknown) => readonly ArgumentIssue[];

const MAX_ISSUES = 10;
const OPTIONS = { strict: false, allErrors: true, validateFormats: true, logger: false } as const;
const DRAFT_7 = /^https?:\/\/json-schema\.org\/draft-0[467]\/schema#?$/;

/**
 * Compiles a server's own input schema, with the semantics of JSON Schema: unknown arguments are refused
 * only where the schema does. A schema that cannot be compiled refuses nothing: the server decides then.
 * `onInvalid` receives the reason.
 */
export function compileSchema(
  schema: Readonly<Record<string, unknown>> | undefined,
  onInvalid: (cause: unknown) => void,
): CheckArguments {
  if (!schema) return () => [];
  try {
    const { $schema, ...rest } = schema;
    const isOld = typeof $schema === 'string' && DRAFT_7.test($schema);
    // An instance per schema: two tools may use the same $id.
    const ajv = isOld ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
    addFormats.default(ajv);
    const validate = ajv.compile(rest);
    return (args) => (validate(args) ? [] : issuesOf(validate.errors ?? []));
  } catch (cause) {
    onInvalid(cause);
    return () => [];
  }
}

function issuesOf(errors: readonly ErrorObject[]): readonly ArgumentIssue[] {
  return errors.slice(0, MAX_ISSUES).map((error) => {
    const { instancePath, params, message = 'is invalid' } = error;
    const { missingProperty, additionalProperty } = params as Readonly<Record<string, unknown>>;
    const member = [missingProperty, additionalProperty].find((name) => typeof name === 'string');
    const path = [
      ...instancePath.split('/').slice(1).map(decodePointer),
      ...(typeof member === 'string' ? [member] : []),
    ];
    const field = path.length === 0 ? '(arguments)' : path.join('.');
    if (missingProperty !== undefined) return { field, message: 'is required' };
    if (additionalProperty !== undefined) return { field, message: 'is not an argument' };
    const { allowedValues } = params as { readonly allowedValues?: unknown };
    if (Array.isArray(allowedValues)) {
      return { field, message: `must be one of ${listed(allowedValues)}` };
    }
    return { field, message };
  });
}

const MAX_LISTED = 200;

/** As many values as fit, each of them whole: the redaction would not recognise a part of a secret. */
function listed(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  let length = 0;
  const shown = texts.filter((text) => (length += text.length + 1) <= MAX_LISTED);
  return `[${[...shown, ...(shown.length < texts.length ? ['…'] : [])].join(',')}]`;
}

function decodePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
