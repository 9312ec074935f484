import { isObject, type Json, type JsonObject } from '../../json.js';
import { badParameter } from '../api/http.js';

export interface FieldChoice {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** Whether `include` adds to a default set, as the extension specifies, or replaces it. */
export type FieldsRule = 'default-set' | 'exact';

const DEFAULT_SET = [
  'type',
  'stac_version',
  'id',
  'collection',
  'geometry',
  'bbox',
  'links',
  'assets',
  'properties.datetime',
];

/** Parses `a,-b`, with or without a plus sign before included names. */
export function fieldsFromText(text: string): FieldChoice {
  const names = text.split(',').filter((name) => name.trim() !== '');
  return {
    include: names.filter((name) => !name.startsWith('-')).map((name) => name.replace(/^[+ ]/, '')),
    exclude: names.filter((name) => name.startsWith('-')).map((name) => name.slice(1)),
  };
}

export function fieldChoice(given: unknown): FieldChoice {
  if (!isObject(given)) throw badParameter('fields', 'is not an object');
  return { include: names(given['include']), exclude: names(given['exclude']) };
}

function names(given: unknown): string[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || !given.every((name) => typeof name === 'string'))
    throw badParameter('fields', 'is not a list of names');
  return given;
}

export function chooseFields(item: JsonObject, choice: FieldChoice, rule: FieldsRule): JsonObject {
  const { include, exclude } = choice;
  const included =
    rule === 'default-set'
      ? pick(item, [...DEFAULT_SET, ...include])
      : include.length > 0
        ? pick(item, ['id', 'collection', ...include])
        : item;
  return drop(included, exclude);
}

/** Whether a top-level field remains. Assets are expensive to generate. */
export function keepsField(
  name: string,
  choice: FieldChoice | undefined,
  rule: FieldsRule,
): boolean {
  if (!choice) return true;
  if (choice.exclude.includes(name)) return false;
  const all = rule === 'default-set' || choice.include.length === 0;
  return all || choice.include.some((path) => path === name || path.startsWith(`${name}.`));
}

/** Splits a path at its first dot; nested names may contain dots. */
function split(path: string): [string, string | undefined] {
  const dot = path.indexOf('.');
  return dot < 0 ? [path, undefined] : [path.slice(0, dot), path.slice(dot + 1)];
}

function pick(item: JsonObject, paths: readonly string[]): JsonObject {
  const picked: Record<string, Json> = {};
  for (const path of paths) {
    const [name, below] = split(path);
    const value = item[name];
    if (value === undefined) continue;
    if (below === undefined) picked[name] = value;
    else if (isObject(value) && Object.hasOwn(value, below)) {
      const partly = picked[name] as JsonObject | undefined;
      if (partly !== value) picked[name] = { ...partly, [below]: value[below] as Json };
    }
  }
  return picked;
}

function drop(item: JsonObject, paths: readonly string[]): JsonObject {
  const kept: Record<string, Json | undefined> = { ...item };
  for (const path of paths) {
    const [name, below] = split(path);
    const value = kept[name];
    if (below === undefined) kept[name] = undefined;
    else if (isObject(value)) kept[name] = { ...value, [below]: undefined };
  }
  return kept;
}
