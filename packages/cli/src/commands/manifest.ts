import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  acceptControls,
  buildManifest,
  compareManifests,
  manifestSchema,
  manifestText,
  PROFILES,
  type Manifest,
} from '@toolkeel/contract';
import { didYouMean, hostToolSpecs } from '@toolkeel/host';
import { packNames, toolsOf } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';
import { UsageError } from '../errors.js';

export interface ManifestFlags {
  readonly profile?: string;
  /** `true` where no file follows: then it is the one that was published with this version. */
  readonly check?: string | true;
}

/** The manifest that lies beside the code. */
export const publishedManifest: string = fileURLToPath(
  new URL('../manifest.json', import.meta.url),
);

/** Prints what the tools promise, or says how that differs from a file. */
export async function manifest(
  { profile, check }: ManifestFlags,
  { cwd, stdout, stderr }: RuntimeContext,
): Promise<number> {
  const current = ofProfile(await currentManifest(), profile);
  if (check === undefined) {
    stdout.write(manifestText(current));
    return 0;
  }
  const file = check === true ? publishedManifest : resolve(cwd, check);
  const differences = compareManifests(ofProfile(readManifest(file), profile), current);
  for (const { message } of differences) stderr.write(`${message}\n`);
  if (differences.length > 0) {
    stderr.write(
      `The tools differ from ${file}. If that is meant, write it anew: toolkeel manifest\n`,
    );
    return 1;
  }
  stdout.write(`${current.tools.length} tools, as ${file} says.\n`);
  return 0;
}

/** From the source: all tools of all packs and of the host, with the arguments that the journal adds. */
export async function currentManifest(): Promise<Manifest> {
  return buildManifest([...(await toolsOf(packNames)), ...hostToolSpecs()].map(acceptControls));
}

function ofProfile(whole: Manifest, profile: string | undefined): Manifest {
  if (profile === undefined) return whole;
  const known = PROFILES.find((name) => name === profile);
  if (!known) {
    throw new UsageError(
      `There is no profile "${profile}".${didYouMean(profile, PROFILES)} Profiles: ${PROFILES.join(', ')}.`,
    );
  }
  return { ...whole, tools: whole.tools.filter(({ profiles }) => profiles.includes(known)) };
}

function readManifest(file: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const why = cause instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new UsageError(`${file} ${why}. toolkeel manifest > FILE writes one.`, { cause });
  }
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.length ? ` at ${issue.path.join('.')}` : '';
  throw new UsageError(`${file} is not a manifest${where}: ${issue?.message ?? ''}`);
}
