import { canonicalJson } from '../canonical/canonical-json.js';
import type { Manifest, ManifestEntry } from './build.js';

export interface ManifestDifference {
  readonly tool: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly field?: keyof ManifestEntry;
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
  return fieldsOf(after)
    .filter((field) => canonicalJson(before[field]) !== canonicalJson(after[field]))
    .map((field) => ({
      tool,
      kind: 'changed',
      field,
      message: `${tool}: ${field} ${change(before[field], after[field])}`,
    }));
}

function change(before: unknown, after: unknown): string {
  if (Array.isArray(before) && Array.isArray(after)) {
    const lost = before.filter((item) => !after.includes(item)).map((item) => `-${String(item)}`);
    const won = after.filter((item) => !before.includes(item)).map((item) => `+${String(item)}`);
    return [...lost, ...won].join(' ') || 'is in another order';
  }
  return `was ${JSON.stringify(before)}, is ${JSON.stringify(after)}`;
}

function fieldsOf(entry: ManifestEntry): readonly (keyof ManifestEntry)[] {
  return Object.keys(entry) as (keyof ManifestEntry)[];
}

function byName({ tools }: Manifest): ReadonlyMap<string, ManifestEntry> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}
