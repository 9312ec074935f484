import * as z from 'zod';
import { ownMember } from '../json.js';
import { type AssertField, isList } from './check-definition.js';
import { CONTROL_ARGUMENTS } from './controls.js';
import { type ObjectSchema, representable, type Schema } from './schema.js';
import type { JsonSchema, PagingSpec, ToolTraits } from './spec.js';

export interface CheckedSchemas {
  readonly input: z.ZodObject;
  readonly output: Schema;
  readonly inputSchema: JsonSchema;
  readonly dataSchema: JsonSchema;
  readonly partialSchema?: JsonSchema;
}

/** The output of a tool that declares none. */
const anyObject = z.looseObject({});

export function checkSchemas(assertField: AssertField, traits: ToolTraits): CheckedSchemas {
  const input = strictRoot(assertField, traits.input);
  let changesValues = false;
  const inputSchema = representable(assertField, 'input', input, 'input', () => {
    changesValues = true;
  });
  // Arguments of mutations are stored and hashed, so they must still be JSON after parsing.
  if (traits.effect !== 'read' && changesValues)
    representable(assertField, 'input', input, 'output');
  const { output = anyObject } = traits;
  const dataSchema = unchanging(assertField, 'output', output);
  assertField(
    !output.safeParse(undefined).success || isOpen(dataSchema),
    'output',
    'must not be optional: data is always present',
  );
  if (traits.step) unchanging(assertField, 'step', traits.step);
  if (traits.paging) checkPaging(assertField, traits.paging, input, dataSchema);
  if (!traits.partial) return { input, output, inputSchema, dataSchema };
  const partialSchema = unchanging(assertField, 'partial', traits.partial);
  return { input, output, inputSchema, dataSchema, partialSchema };
}

/** A stored result is validated again when it is replayed, so the schema must not transform it. */
function unchanging(assertField: AssertField, field: string, schema: Schema): JsonSchema {
  let changesValues = false;
  const described = representable(assertField, field, schema, 'output', () => {
    changesValues = true;
  });
  assertField(!changesValues, field, 'must not transform values: do that in the handler');
  return described;
}

function strictRoot(assertField: AssertField, input: ObjectSchema): z.ZodObject {
  assertField(input instanceof z.ZodObject, 'input', 'must be a z.object');
  const rest = input.def.catchall?._zod.def.type;
  assertField(rest === undefined || rest === 'never', 'input', 'must not accept unknown arguments');
  const reserved = CONTROL_ARGUMENTS.find((name) => name in input.shape);
  assertField(reserved === undefined, 'input', `${String(reserved)} is reserved for the journal`);
  return rest === 'never' ? input : input.strict();
}

function checkPaging(
  assertField: AssertField,
  paging: PagingSpec,
  input: z.ZodObject,
  dataSchema: JsonSchema,
): void {
  const { token, items, unbound = [] } = paging;
  assertField(typeof token === 'string', 'paging.token', 'must be the name of an argument');
  assertField(isList(unbound), 'paging.unbound', 'must be a list');
  const argument = ownMember(input.shape, token);
  assertField(argument instanceof z.ZodType, 'paging.token', `${token} is not an argument`);
  assertField(
    argument.safeParse(undefined).success,
    'paging.token',
    `${token} must be optional: the first page has no token`,
  );
  const unknownName = unbound.find((name) => !Object.hasOwn(input.shape, name));
  assertField(
    unknownName === undefined,
    'paging.unbound',
    `${String(unknownName)} is not an argument`,
  );
  representable(assertField, 'paging.cursor', paging.cursor, 'output');
  const list = items === undefined ? dataSchema : ownMember(dataSchema['properties'], items);
  assertField(ownMember(list, 'type') === 'array', 'paging.items', 'must name a list in output');
}

/** z.unknown() and z.any() accept undefined; the run rejects it if it occurs. */
function isOpen(schema: JsonSchema): boolean {
  return Object.keys(schema).length === 0;
}
