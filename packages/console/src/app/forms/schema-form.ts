/** A form made from a JSON Schema: which fields it has, and how their texts become arguments. Pure. */

export type Schema = Readonly<Record<string, unknown>>;

export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'long' | 'integer' | 'number' | 'boolean' | 'choice' | 'json';
  readonly required: boolean;
  readonly description: string;
  /** For `choice`. */
  readonly choices: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly placeholder: string;
}

/** The texts of the controls, by field. An empty one means that the argument is left out. */
export type Texts = Readonly<Record<string, string>>;

export interface FormResult {
  readonly values: Readonly<Record<string, unknown>>;
  /** By field: what is wrong with its text. */
  readonly errors: Readonly<Record<string, string>>;
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** Required fields first; otherwise in the order of the schema. */
export function fieldsOf(schema: Schema): readonly Field[] {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(properties).map(([name, property]) =>
    fieldOf(name, isObject(property) ? property : {}, required.includes(name)),
  );
  return [
    ...fields.filter((field) => field.required),
    ...fields.filter((field) => !field.required),
  ];
}

/** What a result must have: the required members of a tool's data, and its id first. */
export function resultFields(dataSchema: Schema): readonly Field[] {
  return fieldsOf(dataSchema)
    .filter(({ name, required }) => required || name === 'id')
    .toSorted((a, b) => Number(b.name === 'id') - Number(a.name === 'id'));
}

function fieldOf(name: string, given: Schema, required: boolean): Field {
  const schema = withoutNull(given);
  const kind = kindOf(name, schema);
  const min = numberOf(schema['minimum']);
  const max = numberOf(schema['maximum']);
  const fallback = schema['default'] ?? given['default'];
  return {
    name,
    kind,
    required,
    description: textOf(given['description']) || textOf(schema['description']),
    choices: kind === 'choice' ? choicesOf(schema) : [],
    ...(min !== undefined && Math.abs(min) < 1e15 && { min }),
    ...(max !== undefined && Math.abs(max) < 1e15 && { max }),
    placeholder: fallback === undefined ? '' : `Default: ${asText(fallback)}`,
  };
}

/** A schema that also allows null is, in a form, the schema of the other type: empty means "left out". */
function withoutNull(schema: Schema): Schema {
  const variants = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(variants)) {
    const others = variants.filter(isObject).filter(({ type }) => type !== 'null');
    const [only] = others;
    return others.length === 1 && only ? only : schema;
  }
  if (!Array.isArray(schema['type'])) return schema;
  const types = schema['type'].filter((type) => type !== 'null');
  return types.length === 1 ? { ...schema, type: types[0] as unknown } : schema;
}

const choicesOf = (schema: Schema): string[] => {
  const { enum: values, const: only } = schema;
  return Array.isArray(values) ? values.map(asText) : [asText(only)];
};

const LONG_TEXT = 120;

function kindOf(name: string, schema: Schema): Field['kind'] {
  const { enum: values, const: only, type } = schema;
  if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return 'choice';
  if (typeof only === 'string') return 'choice';
  if (type === 'integer' || type === 'number' || type === 'boolean') return type;
  if (type !== 'string') return 'json';
  const maxLength = numberOf(schema['maxLength']) ?? 0;
  return maxLength > LONG_TEXT || /^(text|body|message|content)$/.test(name) ? 'long' : 'text';
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** The texts that show given arguments. */
export function textsOf(
  fields: readonly Field[],
  values: Readonly<Record<string, unknown>>,
): Texts {
  return Object.fromEntries(
    fields.map(({ name, kind }) => {
      const value = values[name];
      if (value === undefined || value === null) return [name, ''];
      return [name, kind === 'json' ? JSON.stringify(value, null, 2) : asText(value)];
    }),
  );
}

export function readForm(fields: readonly Field[], texts: Texts): FormResult {
  const values: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? '';
    if (text === '') {
      if (field.required) errors[field.name] = 'Required.';
      continue;
    }
    const read = readField(field, text);
    if ('error' in read) errors[field.name] = read.error;
    else values[field.name] = read.value;
  }
  return { values, errors };
}

type Read = { readonly value: unknown } | { readonly error: string };

function readField({ kind, min, max }: Field, text: string): Read {
  switch (kind) {
    case 'text':
    case 'long':
    case 'choice':
      return { value: text };
    case 'boolean':
      return { value: text === 'true' };
    case 'integer':
    case 'number': {
      const value = Number(text);
      if (text.trim() === '' || !Number.isFinite(value)) return { error: 'Must be a number.' };
      if (kind === 'integer' && !Number.isInteger(value))
        return { error: 'Must be a whole number.' };
      if (min !== undefined && value < min) return { error: `Must be at least ${min}.` };
      if (max !== undefined && value > max) return { error: `Must be at most ${max}.` };
      return { value };
    }
    case 'json':
      try {
        return { value: JSON.parse(text) as unknown };
      } catch {
        return { error: 'Must be JSON, such as ["a", "b"] or {"name": 1}.' };
      }
  }
}

/** What an edit changes. Masked arguments are not in the form, and stay as they are. */
export function changesBetween(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  names: readonly string[],
): { readonly changes: Readonly<Record<string, unknown>>; readonly remove: readonly string[] } {
  const isSame = (name: string): boolean =>
    JSON.stringify(before[name]) === JSON.stringify(after[name]);
  const changed = names.filter((name) => !isSame(name));
  return {
    changes: Object.fromEntries(
      changed.filter((name) => after[name] !== undefined).map((name) => [name, after[name]]),
    ),
    remove: changed.filter((name) => after[name] === undefined && (before[name] ?? null) !== null),
  };
}
