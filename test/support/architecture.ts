import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { importsOf, type Import } from './imports.js';
import { rooms as houseRooms, type Room } from './rooms.js';
import type { Manifest } from './workspace.js';

export type Rule =
  | 'unknown-room'
  | 'unreadable'
  | 'forbidden-arrow'
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
  readonly room: string;
  readonly manifest: Pick<Manifest, 'name'> & Partial<Manifest>;
  /** Paths inside the package ("src/a.ts", "test/b.test.ts") to their text. */
  readonly files: ReadonlyMap<string, string>;
}

interface Site {
  readonly pkg: PackageFiles;
  readonly room: Room;
  readonly path: string;
  readonly kind: FileKind;
}

/** The test kit is code that a package offers to tests, its own and others'. */
type FileKind = 'source' | 'test-kit' | 'test';

const kindOf = (path: string): FileKind => {
  if (path.startsWith('test/') || /\.(test|fixture)\.tsx?$/.test(path)) return 'test';
  return path.startsWith('src/testing/') ? 'test-kit' : 'source';
};

const SCOPE = '@toolkeel/';

/** Everything in the given packages that the house does not allow, in the order of the files. */
export const violationsIn = (
  packages: readonly PackageFiles[],
  rooms: Readonly<Record<string, Room>> = houseRooms,
): Violation[] => {
  const found: Violation[] = [];
  const arrows: PackageArrow[] = [];

  for (const pkg of packages) {
    const room = Object.hasOwn(rooms, pkg.room) ? rooms[pkg.room] : undefined;
    if (!room) {
      const message = `there is no room "${pkg.room}": add it to the table in test/support/rooms.ts, with what it may import`;
      found.push({ rule: 'unknown-room', file: `packages/${pkg.room}`, line: 1, message });
      continue;
    }
    for (const [path, text] of pkg.files) {
      const site: Site = { pkg, room, path, kind: kindOf(path) };
      const file = `packages/${pkg.room}/${path}`;
      const { imports, error } = importsOf(path, text);
      if (error) found.push({ rule: 'unreadable', file, line: 1, message: error });
      for (const one of imports) {
        const problem = judge(site, one, packages);
        if (problem) found.push({ file, line: one.line, ...problem });
        const to = roomOf(one.specifier);
        if (to && to !== pkg.room) arrows.push({ from: pkg.room, to, file, line: one.line });
      }
    }
  }
  return [...found, ...cyclesIn(arrows)];
};

type Problem = Pick<Violation, 'rule' | 'message'>;

const roomOf = (specifier: string | undefined): string | undefined =>
  specifier?.startsWith(SCOPE) ? specifier.slice(SCOPE.length).split('/')[0] : undefined;

const judge = (site: Site, one: Import, packages: readonly PackageFiles[]): Problem | undefined => {
  const { specifier } = one;
  if (specifier === undefined) {
    if (site.kind === 'test') return undefined;
    return { rule: 'unreadable', message: 'imports something that is computed at run time' };
  }
  if (specifier.startsWith('.')) return judgeRelative(site, specifier);
  if (isBuiltin(specifier)) return judgeBuiltin(site, specifier);
  if (specifier.startsWith(SCOPE)) return judgeOurs(site, one, specifier, packages);
  return judgeExternal(site, specifier);
};

const judgeRelative = ({ path, kind, pkg }: Site, specifier: string): Problem | undefined => {
  const target = posix.join(posix.dirname(path), specifier);
  // How tests are run is the repository's business, and some tests have to know it.
  if (kind === 'test' && target.startsWith('../../scripts/lib/')) return undefined;
  if (target.startsWith('../')) {
    const message = `reaches out of its package with "${specifier}"`;
    return { rule: 'deep-import', message };
  }
  if (kind === 'test') return undefined;
  const targetKind = kindOf(target.replace(/\.jsx?$/, '.ts'));
  if (targetKind === 'test' || (kind === 'source' && targetKind === 'test-kit')) {
    const message = `source of ${pkg.room} imports test code, "${specifier}"`;
    return { rule: 'test-code', message };
  }
  return undefined;
};

const judgeBuiltin = ({ kind, pkg, room }: Site, specifier: string): Problem | undefined => {
  if (kind !== 'source' || room.builtins) return undefined;
  return { rule: 'no-builtins', message: `${pkg.room} runs anywhere, it may not use ${specifier}` };
};

const judgeOurs = (
  site: Site,
  { typeOnly }: Import,
  specifier: string,
  packages: readonly PackageFiles[],
): Problem | undefined => {
  const { pkg, room, kind } = site;
  const [, to = '', ...rest] = specifier.split('/');

  if (to === pkg.room) {
    if (kind === 'test') return undefined;
    return {
      rule: 'deep-import',
      message: `${pkg.room} imports itself by name: use a relative path`,
    };
  }

  const arrow = Object.hasOwn(room.imports, to) ? room.imports[to] : undefined;
  const alsoInTests = kind === 'test' && room.testImports?.includes(to);
  if (!arrow && !alsoInTests) {
    const message = `${pkg.room} may not import ${SCOPE}${to}`;
    return { rule: 'forbidden-arrow', message };
  }
  if (arrow === 'types' && !typeOnly && !alsoInTests) {
    const message = `${pkg.room} may import only types of ${SCOPE}${to}: write "import type"`;
    return { rule: 'types-only', message };
  }

  const target = packages.find((other) => other.room === to);
  const subpath = ['.', ...rest].join('/');
  if (target && !Object.hasOwn(target.manifest.exports ?? {}, subpath)) {
    const message = `${SCOPE}${to} does not export "${subpath}"`;
    return { rule: 'deep-import', message };
  }
  if (rest[0] === 'testing' && kind === 'source' && !room.testKits) {
    const message = `source of ${pkg.room} imports test code, "${specifier}"`;
    return { rule: 'test-code', message };
  }
  return undeclared(site, `${SCOPE}${to}`);
};

const judgeExternal = (site: Site, specifier: string): Problem | undefined => {
  const { pkg, room, kind } = site;
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (kind !== 'test' && room.externals !== 'any' && !room.externals.includes(name)) {
    const allowed = room.externals.length > 0 ? `only ${room.externals.join(', ')}` : 'nothing';
    return {
      rule: 'no-externals',
      message: `${pkg.room} may depend on ${allowed}, not on ${name}`,
    };
  }
  return undeclared(site, name);
};

const undeclared = ({ pkg, kind }: Site, name: string): Problem | undefined => {
  const { dependencies, peerDependencies, optionalDependencies, devDependencies } = pkg.manifest;
  const groups = [dependencies, peerDependencies, optionalDependencies];
  if (kind === 'test') groups.push(devDependencies);
  if (groups.some((group) => group && Object.hasOwn(group, name))) return undefined;
  const group = kind === 'test' ? 'devDependencies' : 'dependencies';
  const message = `imports ${name}, which packages/${pkg.room}/package.json does not name in its ${group}`;
  return { rule: 'undeclared', message };
};

interface PackageArrow {
  readonly from: string;
  readonly to: string;
  readonly file: string;
  readonly line: number;
}

/** Each ring of packages once, reported at the import that closes it. */
const cyclesIn = (arrows: readonly PackageArrow[]): Violation[] => {
  const found: Violation[] = [];
  const finished = new Set<string>();
  const walk = (room: string, trail: readonly string[]): void => {
    for (const { to, file, line } of arrows.filter(({ from }) => from === room)) {
      const start = trail.indexOf(to);
      if (start >= 0) {
        const ring = [...trail.slice(start), to].join(' → ');
        if (!found.some(({ message }) => message.includes(ring)))
          found.push({ rule: 'cycle', file, line, message: `packages import each other: ${ring}` });
      } else if (!finished.has(to)) walk(to, [...trail, to]);
    }
    finished.add(room);
  };
  for (const { from } of arrows) if (!finished.has(from)) walk(from, [from]);
  return found;
};
