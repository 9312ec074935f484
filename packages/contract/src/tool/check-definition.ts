import { clip, ownMember } from '../json.js';
import { isErrorCode } from '../codes/registry.js';
import { PROFILES, type Profile } from '../envelope/meta.js';
import type { Inverse, ToolTraits } from './spec.js';
import { templateArguments } from '../content-hash.js';

/** An invalid tool definition. Thrown when the tool is defined, never when it runs. */
export class ToolDefinitionError extends TypeError {
  override readonly name = 'ToolDefinitionError';
  readonly tool: string;
  readonly field: string;

  constructor(tool: string, field: string, problem: string) {
    super(`tool "${tool}", field "${field}": ${problem}`);
    this.tool = tool;
    this.field = field;
  }
}

/** Throws a ToolDefinitionError for the field unless the condition holds. */
export type AssertField = (holds: boolean, field: string, problem: string) => asserts holds;

export function assertFor(name: unknown): AssertField {
  const tool = typeof name === 'string' ? clip(name, 64) : '?';
  return (holds, field, problem) => {
    if (!holds) throw new ToolDefinitionError(tool, field, problem);
  };
}

// The strictest model API accepts 64 characters.
const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;
const WORD = /^[a-z][a-z0-9_]*$/;
const VERSION = /^\d+\.\d+(\.\d+)?$/;
const EFFECTS: ReadonlySet<unknown> = new Set(['read', 'idempotent', 'once']);

/** The category of a tool that declares none and belongs to no pack. */
export const DEFAULT_CATEGORY = 'general';

export function checkIdentity(assertField: AssertField, traits: ToolTraits): void {
  assertField(
    typeof traits.name === 'string' && TOOL_NAME.test(traits.name),
    'name',
    'must be 1 to 64 of a-z, 0-9 and _, starting with a letter',
  );
  const { title, category = DEFAULT_CATEGORY } = traits;
  assertField(title === undefined || isNonEmptyString(title), 'title', 'must not be empty');
  assertField(isNonEmptyString(traits.description), 'description', 'must not be empty');
  assertField(
    typeof category === 'string' && WORD.test(category),
    'category',
    'must be a word of a-z, 0-9 and _',
  );
  const { version = '1.0' } = traits;
  assertField(
    typeof version === 'string' && VERSION.test(version),
    'version',
    'must look like 1.0',
  );
}

export function checkEffect(assertField: AssertField, traits: ToolTraits): void {
  const { effect, destructive } = traits;
  assertField(EFFECTS.has(effect), 'effect', 'must be read, idempotent or once');
  assertField(
    !(effect === 'read' && destructive === true),
    'destructive',
    'must not be true for a read tool',
  );
}

export function checkProfiles(
  assertField: AssertField,
  { effect, profiles = defaultProfiles(effect) }: ToolTraits,
): void {
  checkList(assertField, 'profiles', profiles, (profile) => isMember(PROFILES, profile));
  assertField(profiles.length > 0, 'profiles', 'must name at least one');
  assertField(
    effect === 'read' || !profiles.includes('readonly'),
    'profiles',
    'must not include readonly for a mutation',
  );
  const missing = profilesFrom(profiles).find((profile) => !profiles.includes(profile));
  assertField(
    missing === undefined,
    'profiles',
    `must also include ${String(missing)}, which contains the others`,
  );
}

export function checkLists(assertField: AssertField, traits: ToolTraits): void {
  const { requires = [], errors = [] } = traits;
  checkList(assertField, 'requires', requires, (name) => WORD.test(String(name)));
  checkList(assertField, 'errors', errors, isErrorCode);
}

export function defaultProfiles(effect: ToolTraits['effect']): readonly Profile[] {
  return profilesFrom(effect === 'read' ? 'readonly' : 'api');
}

/** The given profiles and all that contain them. */
export function profilesFrom(lowest: Profile | readonly Profile[]): readonly Profile[] {
  const names: readonly Profile[] = typeof lowest === 'string' ? [lowest] : lowest;
  const first = PROFILES.findIndex((profile) => names.includes(profile));
  return first === -1 ? [] : PROFILES.slice(first);
}

function checkList(
  assertField: AssertField,
  field: string,
  given: unknown,
  isKnown: (item: unknown) => boolean,
): void {
  assertField(Array.isArray(given), field, 'must be a list');
  const list: readonly unknown[] = given;
  const unknown = list.find((item) => !isKnown(item));
  assertField(unknown === undefined, field, `contains unknown value ${String(unknown)}`);
  const twice = list.find((item, index) => list.indexOf(item) !== index);
  assertField(twice === undefined, field, `contains ${String(twice)} twice`);
}

function isMember(list: readonly unknown[], item: unknown): boolean {
  return list.includes(item);
}

function isNonEmptyString(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

/** Array.isArray does not narrow readonly arrays. */
export function isList(value: unknown): boolean {
  return Array.isArray(value);
}

/** Fields that only mutations may have. */
const MUTATION_FIELDS = [
  'window',
  'key',
  'inverse',
  'reconcile',
  'step',
  'accountId',
  'normalize',
] as const;
const SEND_MODES = new Set<unknown>([undefined, 'automatic', 'explicit']);

export function checkMutationFields(assertField: AssertField, definition: ToolTraits): void {
  const { effect, retryUnsent } = definition;
  for (const field of MUTATION_FIELDS) {
    const isGiven = ownMember(definition, field) !== undefined;
    assertField(effect !== 'read' || !isGiven, field, 'is not allowed for a read tool');
  }
  assertField(
    retryUnsent !== true || effect === 'once',
    'retryUnsent',
    'is for once tools: others are retried anyway',
  );
  const { send, step } = definition;
  assertField(SEND_MODES.has(send), 'send', 'must be automatic or explicit');
  assertField(effect !== 'read' || send !== 'explicit', 'send', 'is not allowed for a read tool');
  assertField(
    step === undefined || send === 'explicit',
    'send',
    "must be 'explicit' for a tool with steps, because each step is sent separately",
  );
}

export function checkJournalTraits(assertField: AssertField, traits: ToolTraits): void {
  const { window, key, sensitive = [], input } = traits;
  const isArgument = (name: string): boolean => Object.hasOwn(input.shape, name);
  assertField(
    window === undefined || (Number.isSafeInteger(window) && window >= 0),
    'window',
    'must be a whole number of milliseconds, 0 or more',
  );
  assertField(isList(sensitive), 'sensitive', 'must be a list');
  const unknownName = sensitive.find((name) => !isArgument(name));
  assertField(unknownName === undefined, 'sensitive', `${String(unknownName)} is not an argument`);
  if (key !== undefined) checkKey(assertField, key, isArgument, sensitive);
}

export function checkInverse(assertField: AssertField, traits: ToolTraits, inverse: Inverse): void {
  const compensated = typeof inverse.of === 'string' ? [inverse.of] : inverse.of;
  assertField(
    isList(compensated) &&
      compensated.length > 0 &&
      compensated.every((name) => TOOL_NAME.test(name) && name !== traits.name),
    'inverse',
    'must name the compensated tool, which is another one',
  );
  assertField(!(inverse.args && inverse.matches), 'inverse', 'must have args or matches, not both');
  assertField(
    (traits.window ?? 0) === 0,
    'window',
    'must be 0 for an inverse, which can always be repeated',
  );
}

function checkKey(
  assertField: AssertField,
  template: string,
  isArgument: (name: string) => boolean,
  sensitive: readonly string[],
): void {
  assertField(typeof template === 'string', 'key', 'must be a string');
  const names = templateArguments(template);
  assertField(names.length > 0, 'key', 'must name an argument, e.g. reply:{in_reply_to_id}');
  const unknownName = names.find((name) => !isArgument(name));
  assertField(unknownName === undefined, 'key', `${String(unknownName)} is not an argument`);
  const secret = names.find((name) => sensitive.includes(name));
  assertField(
    secret === undefined,
    'key',
    `${String(secret)} is sensitive, and keys are stored unencrypted`,
  );
}
