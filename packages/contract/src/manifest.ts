import * as z from 'zod';
import { canonicalJson } from './canonical-json.js';
import { sha256 } from './content-hash.js';
import { type ErrorCode, hostCodes } from './codes/table.js';
import { isCodeName } from './codes/registry.js';
import { PROFILES } from './envelope/meta.js';
import type { ToolSpec } from './tool/tool.js';

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const REQUIREMENT = /^requires_[a-z][a-z0-9_]*$/;

const entryShape = z.object({
  name: z.string(),
  version: z.string(),
  category: z.string(),
  mutation: z.boolean(),
  effect: z.enum(['read', 'idempotent', 'once']),
  requires_x_client: z.boolean(),
  requires_llm: z.boolean(),
  requires_db: z.boolean(),
  profiles: z.array(z.enum(PROFILES)).readonly(),
  possible_error_codes: z.array(z.string().refine(isCodeName)).readonly(),
  description_hash: hash,
  input_schema_hash: hash,
  output_schema_hash: hash,
});

/** Beside the three flags of the original contract, an entry has one for each other requirement. */
export type ManifestEntry = Readonly<z.output<typeof entryShape>> & {
  readonly [requirement: `requires_${string}`]: boolean;
};

const manifestEntrySchema = entryShape.loose().check(({ value, issues }) => {
  for (const [field, given] of Object.entries(value)) {
    if (field in entryShape.shape || (REQUIREMENT.test(field) && given === true)) continue;
    const message = 'is not a field of the manifest';
    issues.push({ code: 'custom', input: value, path: [field], message });
  }
}) as z.ZodType<ManifestEntry>;

export const manifestSchema = z.strictObject({
  manifest_version: z.literal(1),
  tools: z.array(manifestEntrySchema).readonly(),
});

export type Manifest = Readonly<z.output<typeof manifestSchema>>;

/** Builds the manifest, sorted by name and deterministic. */
export function buildManifest(tools: readonly ToolSpec[]): Manifest {
  const entries = tools.map(describeTool).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const twice = entries.find(({ name }, index) => entries[index + 1]?.name === name);
  if (twice) throw new TypeError(`two tools are called ${twice.name}`);
  return { manifest_version: 1, tools: entries };
}

/** The contents of the committed file. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

const FLAGS: ReadonlySet<string> = new Set(['x_client', 'llm', 'db']);

function describeTool(tool: ToolSpec): ManifestEntry {
  const { requires, dataSchema, partialSchema } = tool;
  return {
    name: tool.name,
    version: tool.version,
    category: tool.category,
    mutation: tool.mutation,
    effect: tool.effect,
    requires_x_client: requires.includes('x_client'),
    requires_llm: requires.includes('llm'),
    requires_db: requires.includes('db'),
    ...Object.fromEntries(
      requires
        .filter((name) => !FLAGS.has(name))
        .map((name) => [`requires_${name}`, true as const]),
    ),
    profiles: PROFILES.filter((profile) => tool.profiles.includes(profile)),
    possible_error_codes: [
      ...new Set([...tool.possibleCodes, ...hostCodes(tool.effect)]),
    ].toSorted(),
    // A model acts on the description as it does on the input schema.
    description_hash: sha256(canonicalJson([tool.title, tool.description])),
    input_schema_hash: sha256(canonicalJson(tool.inputSchema)),
    // Excludes the envelope, which is the same for all tools and depends on the profile.
    output_schema_hash: sha256(canonicalJson({ data: dataSchema, partial: partialSchema })),
  };
}

export interface ManifestDifference {
  readonly tool: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** A field of the entry, possibly unknown to this version. */
  readonly field?: string;
  /** A description of the change. */
  readonly message: string;
}

/** The differences between the committed manifest and the source. */
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

/** A description of the change; undefined if nothing changed. */
function change(before: unknown, after: unknown): string | undefined {
  if (before === undefined) return `is new: ${JSON.stringify(after)}`;
  if (after === undefined) return `is gone, was ${JSON.stringify(before)}`;
  if (canonicalJson(before) === canonicalJson(after)) return undefined;
  if (!Array.isArray(before) || !Array.isArray(after)) {
    return `was ${JSON.stringify(before)}, is ${JSON.stringify(after)}`;
  }
  const removed = before.filter((item) => !after.includes(item)).map((item) => `-${String(item)}`);
  const added = after.filter((item) => !before.includes(item)).map((item) => `+${String(item)}`);
  return [...removed, ...added].join(' ') || 'is in another order';
}

/** The defined fields of an entry. */
function fieldsOf(entry: ManifestEntry): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(entry).filter(([, value]) => value !== undefined));
}

function byName({ tools }: Manifest): ReadonlyMap<string, ManifestEntry> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** A code that a test received from a tool. */
export interface ObservedCode {
  readonly tool: string;
  readonly code: ErrorCode;
}

export interface ObservedCheck {
  /** Observed, but not in the tool's list, or the tool is not in the manifest. */
  readonly unlisted: readonly ObservedCode[];
  /** Listed, but never observed. Excludes shared codes. */
  readonly unseen: readonly ObservedCode[];
}

/** Compares `possible_error_codes` with the codes that tests observed, in both directions. */
export function checkObservedCodes(
  manifest: Manifest,
  observed: Iterable<ObservedCode>,
): ObservedCheck {
  const seen = new Map<string, Set<ErrorCode>>();
  for (const { tool, code } of observed) {
    const ofTool = seen.get(tool) ?? new Set<ErrorCode>();
    seen.set(tool, ofTool.add(code));
  }
  const listed = new Map(manifest.tools.map((tool) => [tool.name, tool.possible_error_codes]));
  const unlisted = [...seen].flatMap(([tool, codes]) =>
    [...codes].filter((code) => !listed.get(tool)?.includes(code)).map((code) => ({ tool, code })),
  );
  const unseen = manifest.tools.flatMap(({ name: tool, effect, possible_error_codes: codes }) => {
    const shared: readonly ErrorCode[] = hostCodes(effect);
    return codes
      .filter((code) => !shared.includes(code) && !seen.get(tool)?.has(code))
      .map((code) => ({ tool, code }));
  });
  return { unlisted: unlisted.toSorted(byToolAndCode), unseen: unseen.toSorted(byToolAndCode) };
}

function byToolAndCode(a: ObservedCode, b: ObservedCode): number {
  const [left, right] = [`${a.tool} ${a.code}`, `${b.tool} ${b.code}`];
  return left < right ? -1 : Number(left > right);
}
