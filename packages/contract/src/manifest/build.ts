import * as z from 'zod';
import { canonicalJson } from '../canonical/canonical-json.js';
import { sha256 } from '../canonical/fingerprint.js';
import { hostCodes } from '../codes/shared.js';
import { errorCodes } from '../codes/table.js';
import { PROFILES } from '../envelope/meta.js';
import type { ToolSpec } from '../tool/tool.js';

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const manifestEntrySchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  category: z.string(),
  mutation: z.boolean(),
  effect: z.enum(['read', 'idempotent', 'once']),
  requires_x_client: z.boolean(),
  requires_llm: z.boolean(),
  requires_db: z.boolean(),
  profiles: z.array(z.enum(PROFILES)).readonly(),
  possible_error_codes: z.array(z.enum(errorCodes)).readonly(),
  description_hash: hash,
  input_schema_hash: hash,
  output_schema_hash: hash,
});

export const manifestSchema = z.strictObject({
  manifest_version: z.literal(1),
  tools: z.array(manifestEntrySchema).readonly(),
});

export type ManifestEntry = Readonly<z.output<typeof manifestEntrySchema>>;
export type Manifest = Readonly<z.output<typeof manifestSchema>>;

/** What the tools promise, sorted by name, the same for the same source. */
export function buildManifest(tools: readonly ToolSpec[]): Manifest {
  const entries = tools.map(describe).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const twice = entries.find(({ name }, index) => entries[index + 1]?.name === name);
  if (twice) throw new TypeError(`two tools are called ${twice.name}`);
  return { manifest_version: 1, tools: entries };
}

/** The text that is committed. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function describe(tool: ToolSpec): ManifestEntry {
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
    profiles: PROFILES.filter((profile) => tool.profiles.includes(profile)),
    possible_error_codes: [
      ...new Set([...tool.possibleCodes, ...hostCodes(tool.effect)]),
    ].toSorted(),
    // A model acts on these words, as it does on those in the input schema.
    description_hash: sha256(canonicalJson([tool.title, tool.description])),
    input_schema_hash: sha256(canonicalJson(tool.inputSchema)),
    // The envelope around the data is the same for all tools, and differs by profile.
    output_schema_hash: sha256(canonicalJson({ data: dataSchema, partial: partialSchema })),
  };
}
