import { clip, ownMember } from '../json.js';
import { isErrorCode } from '../codes/table.js';
import { PROFILES, type Profile } from '../envelope/meta.js';
import { type Inverse, REQUIREMENTS, type ToolTraits } from './spec.js';
import { templateArguments } from '../content-hash.js';

/** A tool that cannot be what its definition says. Thrown when it is defined, never when it runs. */
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

/** Throws, naming tool and field, unless the condition holds. */
export type AssertField = (holds: boolean, field: string, problem: string) => asserts holds;

export function assertFor(name: unknown): AssertField {
  const tool = typeof name === 'string' ? clip(name, 64) : '?';
  return (holds, field, problem) => {
    if (!holds) throw new ToolDefinitionError(tool, field, problem);
  };
}

// Sixty-four characters is what the strictest model API accepts as a tool's name.
const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;
const CATEGORY = /^[a-z][a-z0-9_]*$/;
const VERSION = /^\d+\.\d+(\.\d+)?$/;
const EFFECTS: ReadonlySet<unknown> = new Set(['read', 'idempotent', 'once']);

export function checkIdentity(assertField: AssertField, traits: ToolTraits): void {
  assertField(
    typeof traits.name === 'string' && TOOL_NAME.test(traits.name),
    'name',
    'must be 1 to 64 of a-z, 0-9 and _, beginning with a letter',
  );
  assertField(isText(traits.title), 'title', 'must not be empty');
  assertField(isText(traits.description), 'description', 'must not be empty');
  assertField(
    typeof traits.category === 'string' && CATEGORY.test(traits.category),
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
    'a read tool destroys nothing',
  );
}

export function checkProfiles(assertField: AssertField, traits: ToolTraits): void {
  const { profiles, effect } = traits;
  checkList(assertField, 'profiles', profiles, (profile) => isMember(PROFILES, profile));
  assertField(profiles.length > 0, 'profiles', 'must name at least one');
  assertField(
    effect === 'read' || !profiles.includes('readonly'),
    'profiles',
    'a tool that mutates cannot be in readonly',
  );
  const missing = profilesFrom(profiles).find((profile) => !profiles.includes(profile));
  assertField(
    missing === undefined,
    'profiles',
    `each profile contains the ones before it, so ${String(missing)} belongs there too`,
  );
}

export function checkLists(assertField: AssertField, traits: ToolTraits): void {
  const { requires = [] } = traits;
  checkList(assertField, 'requires', requires, (name) => isMember(REQUIREMENTS, name));
  checkList(assertField, 'errors', traits.errors, isErrorCode);
}

/** The profile and all that contain it. */
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
  assertField(unknown === undefined, field, `does not know ${String(unknown)}`);
  const twice = list.find((item, index) => list.indexOf(item) !== index);
  assertField(twice === undefined, field, `names ${String(twice)} twice`);
}

function isMember(list: readonly unknown[], item: unknown): boolean {
  return list.includes(item);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

/** Array.isArray would take the type of a readonly list away. */
export function isList(value: unknown): boolean {
  return Array.isArray(value);
}

/** Fields that only mean something for a tool that acts. */
const ONLY_MUTATIONS = [
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
  for (const field of ONLY_MUTATIONS) {
    const isGiven = ownMember(definition, field) !== undefined;
    assertField(effect !== 'read' || !isGiven, field, 'means nothing for a read tool');
  }
  assertField(
    retryUnsent !== true || effect === 'once',
    'retryUnsent',
    'is for once tools: others are sent again anyway',
  );
  const { send, step } = definition;
  assertField(SEND_MODES.has(send), 'send', 'must be automatic or explicit');
  assertField(effect !== 'read' || send !== 'explicit', 'send', 'means nothing for a read tool');
  assertField(
    step === undefined || send === 'explicit',
    'send',
    "must be 'explicit' for a tool with steps: each of them is sent by itself",
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
  const stranger = sensitive.find((name) => !isArgument(name));
  assertField(stranger === undefined, 'sensitive', `${String(stranger)} is not an argument`);
  if (key !== undefined) checkKey(assertField, key, isArgument, sensitive);
}

export function checkInverse(assertField: AssertField, traits: ToolTraits, inverse: Inverse): void {
  const undone = typeof inverse.of === 'string' ? [inverse.of] : inverse.of;
  assertField(
    isList(undone) &&
      undone.length > 0 &&
      undone.every((name) => TOOL_NAME.test(name) && name !== traits.name),
    'inverse',
    'must name the other tool, the one that is undone',
  );
  assertField(
    !(inverse.args && inverse.matches),
    'inverse',
    'finds the act by args or by matches, not by both',
  );
  assertField(
    (traits.window ?? 0) === 0,
    'window',
    'an inverse has no content window: it can always be repeated',
  );
}

function checkKey(
  assertField: AssertField,
  template: string,
  isArgument: (name: string) => boolean,
  sensitive: readonly string[],
): void {
  assertField(typeof template === 'string', 'key', 'must be a text');
  const names = templateArguments(template);
  assertField(names.length > 0, 'key', 'must name an argument, e.g. reply:{in_reply_to_id}');
  const stranger = names.find((name) => !isArgument(name));
  assertField(stranger === undefined, 'key', `${String(stranger)} is not an argument`);
  const secret = names.find((name) => sensitive.includes(name));
  assertField(
    secret === undefined,
    'key',
    `${String(secret)} is sensitive, and keys are stored in clear`,
  );
}
