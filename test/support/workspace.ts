import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { packageDirs } from '../../scripts/lib/paths.mjs';

export { root } from '../../scripts/lib/paths.mjs';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string | { readonly default: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface WorkspacePackage {
  /** The folder's name under packages/. */
  readonly folder: string;
  readonly dir: string;
  readonly manifest: Manifest;
}

export const readManifest = (dir: string): Manifest =>
  JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Manifest;

export const workspacePackages = (): WorkspacePackage[] =>
  packageDirs().map((dir) => ({ folder: basename(dir), dir, manifest: readManifest(dir) }));

/** The specifiers that a package exports, with the source file of each. */
export const sourceOf = ({
  dir,
  manifest,
}: WorkspacePackage): { specifier: string; file: string }[] =>
  Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
    const compiled = typeof target === 'string' ? target : target.default;
    const file = join(dir, compiled.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts'));
    return compiled.endsWith('.js') ? [{ specifier: manifest.name + subpath.slice(1), file }] : [];
  });

/** Resolves our packages to their sources. */
export const sourceAliases = (): { find: RegExp; replacement: string }[] =>
  workspacePackages().flatMap((pkg) =>
    sourceOf(pkg).map(({ specifier, file }) => ({
      find: new RegExp(`^${specifier}$`),
      replacement: file,
    })),
  );
