import { isObject } from '../json.js';
import type { AnyObjectSchema, NoSchema, ObjectSchema, Schema } from './schema.js';
import { codesOfEffect, type ErrorCode, upstreamCodes } from '../codes/table.js';
import {
  checkEffect,
  checkIdentity,
  checkInverse,
  checkJournalTraits,
  checkLists,
  checkMutationFields,
  checkProfiles,
  DEFAULT_CATEGORY,
  defaultProfiles,
  type AssertField,
  assertFor,
} from './check-definition.js';
import { checkSchemas } from './check-schemas.js';
import type { HandlerResult, ToolBehaviour, ToolTraits } from './spec.js';
import type { Tool, ToolSpec } from './tool.js';

const TRAITS = new Set<string>(
  Object.keys({
    name: 0,
    title: 0,
    description: 0,
    category: 0,
    effect: 0,
    profiles: 0,
    requires: 0,
    version: 0,
    input: 0,
    output: 0,
    partial: 0,
    step: 0,
    errors: 0,
    paging: 0,
    destructive: 0,
    openWorld: 0,
    window: 0,
    key: 0,
    retryUnsent: 0,
    delegates: 0,
    send: 0,
    sensitive: 0,
  } satisfies Record<keyof ToolTraits, 0>),
);

const BEHAVIOUR = new Set<string>(
  Object.keys({
    handler: 0,
    check: 0,
    account: 0,
    accountId: 0,
    normalize: 0,
    inverse: 0,
    estimateCost: 0,
    reconcile: 0,
    hardRules: 0,
    faultToError: 0,
  } satisfies Record<keyof ErasedBehaviour, 0>),
);

const FIELDS: ReadonlySet<string> = new Set([...TRAITS, ...BEHAVIOUR]);

type ErasedBehaviour = ToolBehaviour<ObjectSchema, Schema, ErrorCode, Schema, unknown>;

/** Validates and freezes the description of a tool, for a pack that lists its tools before it runs. */
export function specifyTool<
  In extends ObjectSchema,
  Out extends Schema = AnyObjectSchema,
  Code extends ErrorCode = ErrorCode,
  Partial extends Schema = NoSchema,
  Cursor extends Schema = NoSchema,
>(traits: ToolTraits<In, Out, Code, Partial, Cursor>): ToolSpec<In, Out, Code, Partial, Cursor> {
  const assertField: AssertField = assertForDefinition(traits);
  checkFields(assertField, traits, TRAITS);
  checkIdentity(assertField, traits);
  checkEffect(assertField, traits);
  checkProfiles(assertField, traits);
  checkLists(assertField, traits);
  const { input, output, ...schemas } = checkSchemas(assertField, traits);
  checkMutationFields(assertField, traits);
  checkJournalTraits(assertField, traits);

  const { name, effect, errors, requires = [], version = '1.0', sensitive = [] } = traits;
  const { title = titleOf(name), category = DEFAULT_CATEGORY, send = 'automatic' } = traits;
  const { profiles = defaultProfiles(effect) } = traits;
  const mutation = effect !== 'read';
  return Object.freeze({
    ...traits,
    ...schemas,
    title,
    category,
    input: input as ObjectSchema as In,
    output: output as Out,
    ...(errors && { errors: Object.freeze([...errors]) }),
    ...(traits.paging && { paging: Object.freeze({ ...traits.paging }) }),
    profiles: Object.freeze([...profiles]),
    requires: Object.freeze([...requires]),
    sensitive: Object.freeze([...sensitive]),
    version,
    send,
    mutation,
    destructive: traits.destructive ?? mutation,
    openWorld: traits.openWorld ?? true,
    possibleCodes: possibleCodes(traits),
  });
}

/** `x_post_tweet` becomes `X post tweet`. */
function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ').trim();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** For a tool with open errors: the codes that it most likely returns. */
function possibleCodes({
  effect,
  errors = upstreamCodes,
  paging,
}: ToolTraits): readonly ErrorCode[] {
  // For a page token that is not accepted.
  const ofPaging: readonly ErrorCode[] = paging ? ['invalid_input'] : [];
  return Object.freeze([...new Set([...codesOfEffect(effect), ...ofPaging, ...errors])].toSorted());
}

/** Adds the functions to a description. */
export function implementTool<
  In extends ObjectSchema,
  Out extends Schema,
  Code extends ErrorCode,
  Partial extends Schema,
  Cursor extends Schema,
  const Result extends HandlerResult<Out, Code, Partial, Cursor>,
>(
  spec: ToolSpec<In, Out, Code, Partial, Cursor>,
  behaviour: ToolBehaviour<In, Out, Code, Cursor, Result>,
): Tool<In, Out> {
  const assertField: AssertField = assertForDefinition(spec);
  assertField(isObject(behaviour), 'handler', 'must be a function');
  checkFields(assertField, behaviour, BEHAVIOUR);
  // These functions only receive arguments that the tool's schema has validated.
  const erased = behaviour as unknown as Pick<Tool, keyof ErasedBehaviour>;
  assertField(typeof erased.handler === 'function', 'handler', 'must be a function');
  const { check } = erased;
  assertField(check === undefined || typeof check === 'function', 'check', 'must be a function');
  checkMutationFields(assertField, { ...spec, ...erased });
  if (erased.inverse) checkInverse(assertField, spec, erased.inverse);
  return Object.freeze({ ...spec, ...erased });
}

/**
 * Defines a tool: its schemas, effect, errors and handler. Throws a ToolDefinitionError that names the
 * tool and the field if the definition is invalid.
 */
export function defineTool<
  In extends ObjectSchema,
  Out extends Schema = AnyObjectSchema,
  Code extends ErrorCode = ErrorCode,
  Partial extends Schema = NoSchema,
  Cursor extends Schema = NoSchema,
  const Result extends HandlerResult<Out, Code, Partial, Cursor> = HandlerResult<
    Out,
    Code,
    Partial,
    Cursor
  >,
>(
  definition: ToolTraits<In, Out, Code, Partial, Cursor> &
    ToolBehaviour<In, Out, NoInfer<Code>, Cursor, Result>,
): Tool<In, Out> {
  checkFields(assertForDefinition(definition), definition, FIELDS);
  return implementTool(specifyTool(pick(definition, TRAITS)), pick(definition, BEHAVIOUR));
}

function assertForDefinition(given: Pick<ToolTraits, 'name'>): AssertField {
  const isDefinition = isObject(given);
  const assertField: AssertField = assertFor(isDefinition ? given.name : undefined);
  assertField(isDefinition, 'name', 'is missing: pass an object');
  return assertField;
}

/** Rejects misspelled fields. */
function checkFields(assertField: AssertField, given: object, known: ReadonlySet<string>): void {
  const unknownField = Object.keys(given).find((field) => !known.has(field));
  assertField(unknownField === undefined, String(unknownField), 'is not a field of a tool');
}

function pick<T extends object>(given: T, fields: ReadonlySet<string>): T {
  return Object.fromEntries(Object.entries(given).filter(([field]) => fields.has(field))) as T;
}
