import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { violationsIn, type PackageFiles } from './support/architecture.js';
import { importsOf } from './support/imports.js';
import { rooms } from './support/rooms.js';
import { root, workspacePackages, type WorkspacePackage } from './support/workspace.js';

const filesOf = ({ room, dir, manifest }: WorkspacePackage): PackageFiles => {
  const paths = ['src', 'test']
    .filter((part) => existsSync(join(dir, part)))
    .flatMap((part) =>
      readdirSync(join(dir, part), { recursive: true, encoding: 'utf8' }).map((path) =>
        posix.join(part, path.replaceAll('\\', '/')),
      ),
    )
    .filter((path) => /\.[cm]?tsx?$/.test(path));
  const files = new Map(paths.map((path) => [path, readFileSync(join(dir, path), 'utf8')]));
  return { room, manifest, files };
};

describe('this repository', () => {
  const packages = workspacePackages();

  test('imports only what the house allows', () => {
    const found = violationsIn(packages.map(filesOf));
    expect(found.map((v) => `${v.file}:${v.line} [${v.rule}] ${v.message}`)).toEqual([]);
  });

  test('was really read', () => {
    const read = packages.map(filesOf).flatMap(({ files }) => [...files.keys()]);
    expect(read).toContain('src/index.ts');
    expect(read.length).toBeGreaterThanOrEqual(packages.length);
  });

  test('has a table without rings', () => {
    const all = Object.entries(rooms).map(([room, { imports }]): PackageFiles => {
      const text = Object.keys(imports)
        .map((to) => `import type {} from '@toolkeel/${to}';`)
        .join('\n');
      return { room, manifest: { name: room }, files: new Map([['src/index.ts', text]]) };
    });
    expect(violationsIn(all).filter(({ rule }) => rule === 'cycle')).toEqual([]);
  });

  test('compiles every package, and each after what it imports', () => {
    const references = (file: string): string[] => {
      const config = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
        references?: { path: string }[];
      };
      return (config.references ?? []).map(({ path }) => posix.join(posix.dirname(file), path));
    };
    const dirs = packages.map(({ room }) => `packages/${room}`);
    expect(references('tsconfig.json').toSorted()).toEqual(dirs);
    expect(references('test/tsconfig.json').toSorted()).toEqual(dirs);

    const missing = packages.map(filesOf).flatMap(({ room, files }) => {
      const known = references(`packages/${room}/tsconfig.json`);
      return [...files]
        .filter(([path]) => path.startsWith('src/'))
        .flatMap(([path, text]) => importsOf(path, text).imports)
        .flatMap(({ specifier }) => /^@toolkeel\/([\w-]+)/.exec(specifier ?? '')?.[1] ?? [])
        .filter((to) => to !== room && !known.includes(`packages/${to}`))
        .map((to) => `packages/${room}/tsconfig.json does not reference ../${to}`);
    });
    expect([...new Set(missing)]).toEqual([]);
  });

  test('has its packages where their names say', () => {
    for (const { room, dir, manifest } of packages)
      expect(`${relative(root, dir)} ${manifest.name}`).toBe(
        `${join('packages', room)} ${room === 'cli' ? 'toolkeel' : `@toolkeel/${room}`}`,
      );
  });
});
