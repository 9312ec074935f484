import { canonicalJson } from '../canonical/canonical-json.js';
import type { Manifest, ManifestEntry } from './build.js';

export interface ManifestDifference {
  readonly tool: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** A field of the entry; a file may hold one that this version does not know. */
  readonly field?: string;
  /** In words, for whoever has to decide whether the change was meant. */
  readonly message: string;
}

/** How the source differs from the manifest that was committed; empty when it does not. */
export function compareManifests(
  committed: Manifest,
  current: Manifest,
): readonly ManifestDifference[] {
  const before = byName(committed);
  const after = byName(current);
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name) => compareTool(name, before.get(name), after.get(name)));
}

function compareTool(
  tool: string,
  before: ManifestEntry | undefined,
  after: ManifestEntry | undefined,
): readonly ManifestDifference[] {
  if (!after) return [{ tool, kind: 'removed', message: `${tool} is gone` }];
  if (!before) return [{ tool, kind: 'added', message: `${tool} is new` }];
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((field) => {
    const what = change(old.get(field), now.get(field));
    if (what === undefined) return [];
    return [{ tool, kind: 'changed', field, message: `${tool}: ${field} ${what}` }];
  });
}

/** In words; undefined where nothing changed. */
function change(before: unknown, after: unknown): string | undefined {
  if (before === undefined) return `is new: ${JSON.stringify(after)}`;
  if (after === undefined) return `is gone, was ${JSON.stringify(before)}`;
  if (canonicalJson(before) === canonicalJson(after)) return undefined;
  if (!Array.isArray(before) || !Array.isArray(after)) {
    return `was ${JSON.stringify(before)}, is ${JSON.stringify(after)}`;
  }
  const lost = before.filter((item) => !after.includes(item)).map((item) => `-${String(item)}`);
  const won = after.filter((item) => !before.includes(item)).map((item) => `+${String(item)}`);
  return [...lost, ...won].join(' ') || 'is in another order';
}

/** What the entry really says: a field that is undefined is not there. */
function fieldsOf(entry: ManifestEntry): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(entry).filter(([, value]) => value !== undefined));
}

function byName({ tools }: Manifest): ReadonlyMap<string, ManifestEntry> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}
