import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { importsOf, type Import } from './imports.js';
import { importRules as defaultRules, type ImportRules } from './import-rules.js';
import type { Manifest } from './workspace.js';

export type Rule =
  | 'unknown-package'
  | 'unreadable'
  | 'forbidden-import'
  | 'types-only'
  | 'no-builtins'
  | 'no-externals'
  | 'undeclared'
  | 'deep-import'
  | 'test-code'
  | 'cycle';

export interface Violation {
  readonly rule: Rule;
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface PackageFiles {
  /** The folder's name under packages/. */
  readonly folder: string;
  readonly manifest: Pick<Manifest, 'name'> & Partial<Manifest>;
  /** Paths inside the package ("src/a.ts", "test/b.test.ts") to their text. */
  readonly files: ReadonlyMap<string, string>;
}

interface SourceFile {
  readonly pkg: PackageFiles;
  readonly rules: ImportRules;
  readonly path: string;
  readonly kind: FileKind;
}

/** `test-kit`: code that a package exports for tests. */
type FileKind = 'source' | 'test-kit' | 'test';

const kindOf = (path: string): FileKind => {
  if (path.startsWith('test/') || /\.(test|fixture)\.tsx?$/.test(path)) return 'test';
  return path.startsWith('src/testing/') ? 'test-kit' : 'source';
};

const SCOPE = '@toolkeel/';

/** All violations of the import rules in the given packages, in the order of the files. */
export const violationsIn = (
  packages: readonly PackageFiles[],
  importRules: Readonly<Record<string, ImportRules>> = defaultRules,
): Violation[] => {
  const found: Violation[] = [];
  const packageImports: PackageImport[] = [];

  for (const pkg of packages) {
    const rules = Object.hasOwn(importRules, pkg.folder) ? importRules[pkg.folder] : undefined;
    if (!rules) {
      const message = `packages/${pkg.folder} has no import rules: add it to the table in test/support/import-rules.ts`;
      found.push({ rule: 'unknown-package', file: `packages/${pkg.folder}`, line: 1, message });
      continue;
    }
    for (const [path, text] of pkg.files) {
      const site: SourceFile = { pkg, rules, path, kind: kindOf(path) };
      const file = `packages/${pkg.folder}/${path}`;
      const { imports, error } = importsOf(path, text);
      if (error) found.push({ rule: 'unreadable', file, line: 1, message: error });
      for (const one of imports) {
        const problem = judge(site, one, packages);
        if (problem) found.push({ file, line: one.line, ...problem });
        const to = folderOf(one.specifier);
        if (to && to !== pkg.folder)
          packageImports.push({ from: pkg.folder, to, file, line: one.line });
      }
    }
  }
  return [...found, ...cyclesIn(packageImports)];
};

type Problem = Pick<Violation, 'rule' | 'message'>;

const folderOf = (specifier: string | undefined): string | undefined =>
  specifier?.startsWith(SCOPE) ? specifier.slice(SCOPE.length).split('/')[0] : undefined;

const judge = (
  site: SourceFile,
  one: Import,
  packages: readonly PackageFiles[],
): Problem | undefined => {
  const { specifier } = one;
  if (specifier === undefined) {
    if (site.kind === 'test' || site.rules.loadsModules === site.path) return undefined;
    return { rule: 'unreadable', message: 'imports a module whose name is computed at run time' };
  }
  if (specifier.startsWith('.')) return judgeRelative(site, specifier);
  if (isBuiltin(specifier)) return judgeBuiltin(site, specifier);
  if (specifier.startsWith(SCOPE)) return judgeInternal(site, one, specifier, packages);
  return judgeExternal(site, specifier);
};

const judgeRelative = ({ path, kind, pkg }: SourceFile, specifier: string): Problem | undefined => {
  const target = posix.join(posix.dirname(path), specifier);
  // Some tests depend on the repository's test scripts.
  if (kind === 'test' && target.startsWith('../../scripts/lib/')) return undefined;
  if (target.startsWith('../')) {
    const message = `reaches out of its package with "${specifier}"`;
    return { rule: 'deep-import', message };
  }
  if (kind === 'test') return undefined;
  const targetKind = kindOf(target.replace(/\.jsx?$/, '.ts'));
  if (targetKind === 'test' || (kind === 'source' && targetKind === 'test-kit')) {
    const message = `source of ${pkg.folder} imports test code, "${specifier}"`;
    return { rule: 'test-code', message };
  }
  return undefined;
};

const judgeBuiltin = ({ kind, pkg, rules }: SourceFile, specifier: string): Problem | undefined => {
  if (kind !== 'source' || rules.builtins) return undefined;
  return {
    rule: 'no-builtins',
    message: `${pkg.folder} must run on every platform and may not use ${specifier}`,
  };
};

const judgeInternal = (
  site: SourceFile,
  { typeOnly }: Import,
  specifier: string,
  packages: readonly PackageFiles[],
): Problem | undefined => {
  const { pkg, rules, kind } = site;
  const [, to = '', ...rest] = specifier.split('/');

  if (to === pkg.folder) {
    if (kind === 'test') return undefined;
    return {
      rule: 'deep-import',
      message: `${pkg.folder} imports itself by name: use a relative path`,
    };
  }

  const arrow = Object.hasOwn(rules.imports, to) ? rules.imports[to] : undefined;
  const alsoInTests = kind === 'test' && rules.testImports?.includes(to);
  if (!arrow && !alsoInTests) {
    const message = `${pkg.folder} may not import ${SCOPE}${to}`;
    return { rule: 'forbidden-import', message };
  }
  if (arrow === 'types' && !typeOnly && !alsoInTests) {
    const message = `${pkg.folder} may import only types of ${SCOPE}${to}: write "import type"`;
    return { rule: 'types-only', message };
  }

  const target = packages.find((other) => other.folder === to);
  const subpath = ['.', ...rest].join('/');
  if (target && !Object.hasOwn(target.manifest.exports ?? {}, subpath)) {
    const message = `${SCOPE}${to} does not export "${subpath}"`;
    return { rule: 'deep-import', message };
  }
  if (rest[0] === 'testing' && kind === 'source' && !rules.testKits) {
    const message = `source of ${pkg.folder} imports test code, "${specifier}"`;
    return { rule: 'test-code', message };
  }
  return undeclared(site, `${SCOPE}${to}`);
};

const judgeExternal = (site: SourceFile, specifier: string): Problem | undefined => {
  const { pkg, rules, kind } = site;
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (kind !== 'test' && rules.externals !== 'any' && !rules.externals.includes(name)) {
    const allowed = rules.externals.length > 0 ? `only ${rules.externals.join(', ')}` : 'nothing';
    return {
      rule: 'no-externals',
      message: `${pkg.folder} may depend on ${allowed}, not on ${name}`,
    };
  }
  return undeclared(site, name);
};

const undeclared = ({ pkg, rules, path, kind }: SourceFile, name: string): Problem | undefined => {
  const { dependencies, peerDependencies, optionalDependencies, devDependencies } = pkg.manifest;
  const groups = [dependencies, peerDependencies, optionalDependencies];
  const isBundled = rules.bundles !== undefined && path.startsWith(rules.bundles);
  if (kind === 'test' || isBundled) groups.push(devDependencies);
  if (groups.some((group) => group && Object.hasOwn(group, name))) return undefined;
  const group = kind === 'test' ? 'devDependencies' : 'dependencies';
  const message = `imports ${name}, which packages/${pkg.folder}/package.json does not declare in its ${group}`;
  return { rule: 'undeclared', message };
};

interface PackageImport {
  readonly from: string;
  readonly to: string;
  readonly file: string;
  readonly line: number;
}

/** Each cycle of packages once, reported at the import that closes it. */
const cyclesIn = (packageImports: readonly PackageImport[]): Violation[] => {
  const found: Violation[] = [];
  const finished = new Set<string>();
  const walk = (folder: string, trail: readonly string[]): void => {
    for (const { to, file, line } of packageImports.filter(({ from }) => from === folder)) {
      const start = trail.indexOf(to);
      if (start >= 0) {
        const cycle = [...trail.slice(start), to].join(' → ');
        if (!found.some(({ message }) => message.includes(cycle)))
          found.push({
            rule: 'cycle',
            file,
            line,
            message: `packages import each other: ${cycle}`,
          });
      } else if (!finished.has(to)) walk(to, [...trail, to]);
    }
    finished.add(folder);
  };
  for (const { from } of packageImports) if (!finished.has(from)) walk(from, [from]);
  return found;
};
