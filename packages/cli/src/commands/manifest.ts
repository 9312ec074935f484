import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  acceptControls,
  buildManifest,
  compareManifests,
  manifestSchema,
  manifestText,
  type Manifest,
  type ToolSpec,
} from '@toolkeel/contract';
import { hostToolSpecs } from '@toolkeel/host';
import { UsageError } from '../errors.js';
import { openCatalog, packNames, parseProfile, toolsOf, type PackFlags } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';

export interface ManifestFlags extends PackFlags {
  readonly profile?: string;
  /** `true` without a file: the manifest published with this version. */
  readonly check?: string | true;
  /** Prints what the listing costs instead. */
  readonly tokens?: boolean;
  readonly json?: boolean;
}

export const publishedManifest: string = fileURLToPath(
  new URL('../manifest.json', import.meta.url),
);

/**
 * Prints the manifest, or its differences from a file: of the packs that `serve` would run with the same
 * arguments.
 */
export async function manifest(
  named: readonly string[],
  flags: ManifestFlags,
  runtime: RuntimeContext,
): Promise<number> {
  const { profile, check, tokens, json = false } = flags;
  const { cwd, stdout, stderr } = runtime;
  const { get, choose } = await openCatalog(flags, runtime);
  const selectedPacks = choose(named);
  if (tokens) {
    if (check !== undefined) throw new UsageError('--tokens and --check exclude each other.');
    const { groupTools, printListingCosts } = await import('./manifest-tokens.js');
    const bindings = await Promise.all(selectedPacks.map((name) => get(name).load()));
    const selected = profile === undefined ? {} : { profile: parseProfile(profile) };
    const groups = groupTools(bindings.map(({ pack }) => pack));
    printListingCosts(groups, { ...selected, json }, runtime);
    return 0;
  }
  // The published manifest has the built-in packs.
  const tools = await toolsOf(check === true ? packNames : selectedPacks, get);
  const current = filterByProfile(await currentManifest(tools), profile);
  if (check === undefined) {
    stdout.write(manifestText(current));
    return 0;
  }
  const file = check === true ? publishedManifest : resolve(cwd, check);
  const differences = compareManifests(filterByProfile(readManifest(file), profile), current);
  for (const { message } of differences) stderr.write(`${message}\n`);
  if (differences.length > 0) {
    stderr.write(
      `The tools differ from ${file}. If the change is intended, update it: toolkeel manifest > FILE\n`,
    );
    return 1;
  }
  stdout.write(`${current.tools.length} tools match ${file}.\n`);
  return 0;
}

/** The tools of packs (default: the built-in ones) and of the host, with the arguments of the journal. */
export async function currentManifest(tools?: readonly ToolSpec[]): Promise<Manifest> {
  const ofPacks = tools ?? (await toolsOf(packNames));
  return buildManifest([...ofPacks, ...hostToolSpecs()].map(acceptControls));
}

function filterByProfile(manifestOfAll: Manifest, profile: string | undefined): Manifest {
  if (profile === undefined) return manifestOfAll;
  const known = parseProfile(profile);
  return {
    ...manifestOfAll,
    tools: manifestOfAll.tools.filter(({ profiles }) => profiles.includes(known)),
  };
}

function readManifest(file: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const why = cause instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new UsageError(`${file} ${why}. Create a manifest with: toolkeel manifest > FILE`, {
      cause,
    });
  }
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.length ? ` at ${issue.path.join('.')}` : '';
  throw new UsageError(`${file} is not a manifest${where}: ${issue?.message ?? ''}`);
}
