import { isErrorCode } from '../codes/table.js';
import { PROFILES, type Profile } from '../envelope/meta.js';
import type { Demand } from './definition-error.js';
import { REQUIREMENTS, type ToolTraits } from './spec.js';

// Sixty-four characters is what the strictest model API accepts as a tool's name.
export const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;
const CATEGORY = /^[a-z][a-z0-9_]*$/;
const VERSION = /^\d+\.\d+(\.\d+)?$/;
const EFFECTS: ReadonlySet<unknown> = new Set(['read', 'idempotent', 'once']);

export function checkIdentity(demand: Demand, traits: ToolTraits): void {
  demand(
    typeof traits.name === 'string' && TOOL_NAME.test(traits.name),
    'name',
    'must be 1 to 64 of a-z, 0-9 and _, beginning with a letter',
  );
  demand(isText(traits.title), 'title', 'must not be empty');
  demand(isText(traits.description), 'description', 'must not be empty');
  demand(
    typeof traits.category === 'string' && CATEGORY.test(traits.category),
    'category',
    'must be a word of a-z, 0-9 and _',
  );
  const { version = '1.0' } = traits;
  demand(typeof version === 'string' && VERSION.test(version), 'version', 'must look like 1.0');
}

export function checkEffect(demand: Demand, traits: ToolTraits): void {
  const { effect, destructive } = traits;
  demand(EFFECTS.has(effect), 'effect', 'must be read, idempotent or once');
  demand(
    !(effect === 'read' && destructive === true),
    'destructive',
    'a read tool destroys nothing',
  );
}

export function checkProfiles(demand: Demand, traits: ToolTraits): void {
  const { profiles, effect } = traits;
  checkList(demand, 'profiles', profiles, (profile) => isMember(PROFILES, profile));
  demand(profiles.length > 0, 'profiles', 'must name at least one');
  demand(
    effect === 'read' || !profiles.includes('readonly'),
    'profiles',
    'a tool that mutates cannot be in readonly',
  );
  const missing = profilesFrom(profiles).find((profile) => !profiles.includes(profile));
  demand(
    missing === undefined,
    'profiles',
    `each profile contains the ones before it, so ${String(missing)} belongs there too`,
  );
}

export function checkLists(demand: Demand, traits: ToolTraits): void {
  const { requires = [] } = traits;
  checkList(demand, 'requires', requires, (name) => isMember(REQUIREMENTS, name));
  checkList(demand, 'errors', traits.errors, isErrorCode);
}

/** The profile and all that contain it. */
export function profilesFrom(lowest: Profile | readonly Profile[]): readonly Profile[] {
  const names: readonly Profile[] = typeof lowest === 'string' ? [lowest] : lowest;
  const first = PROFILES.findIndex((profile) => names.includes(profile));
  return first === -1 ? [] : PROFILES.slice(first);
}

function checkList(
  demand: Demand,
  field: string,
  given: unknown,
  isKnown: (item: unknown) => boolean,
): void {
  demand(Array.isArray(given), field, 'must be a list');
  const list: readonly unknown[] = given;
  const unknown = list.find((item) => !isKnown(item));
  demand(unknown === undefined, field, `does not know ${String(unknown)}`);
  const twice = list.find((item, index) => list.indexOf(item) !== index);
  demand(twice === undefined, field, `names ${String(twice)} twice`);
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
