import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { violationsIn, type PackageFiles } from './support/architecture.js';
import { importsOf } from './support/imports.js';
import { importRules } from './support/import-rules.js';
import { root, workspacePackages, type WorkspacePackage } from './support/workspace.js';

const filesOf = ({ folder, dir, manifest }: WorkspacePackage): PackageFiles => {
  const paths = ['src', 'test']
    .filter((part) => existsSync(join(dir, part)))
    .flatMap((part) =>
      readdirSync(join(dir, part), { recursive: true, encoding: 'utf8' }).map((path) =>
        posix.join(part, path.replaceAll('\\', '/')),
      ),
    )
    .filter((path) => /\.[cm]?tsx?$/.test(path));
  const files = new Map(paths.map((path) => [path, readFileSync(join(dir, path), 'utf8')]));
  return { folder, manifest, files };
};

describe('this repository', () => {
  const packages = workspacePackages();

  test('follows the import rules', () => {
    const found = violationsIn(packages.map(filesOf));
    expect(found.map((v) => `${v.file}:${v.line} [${v.rule}] ${v.message}`)).toEqual([]);
  });

  test('was read completely', () => {
    const read = packages.map(filesOf).flatMap(({ files }) => [...files.keys()]);
    expect(read).toContain('src/index.ts');
    expect(read.length).toBeGreaterThanOrEqual(packages.length);
  });

  test('has import rules without cycles', () => {
    const all = Object.entries(importRules).map(([folder, { imports }]): PackageFiles => {
      const text = Object.keys(imports)
        .map((to) => `import type {} from '@toolkeel/${to}';`)
        .join('\n');
      return { folder, manifest: { name: folder }, files: new Map([['src/index.ts', text]]) };
    });
    expect(violationsIn(all).filter(({ rule }) => rule === 'cycle')).toEqual([]);
  });

  test('compiles every package after its imports', () => {
    const references = (file: string): string[] => {
      const config = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
        references?: { path: string }[];
      };
      return (config.references ?? []).map(({ path }) => posix.join(posix.dirname(file), path));
    };
    const dirs = packages.map(({ folder }) => `packages/${folder}`);
    expect(references('tsconfig.json').toSorted()).toEqual(dirs);
    expect(references('test/tsconfig.json').toSorted()).toEqual(dirs);

    const missing = packages.map(filesOf).flatMap(({ folder, files }) => {
      const known = references(`packages/${folder}/tsconfig.json`);
      return [...files]
        .filter(([path]) => path.startsWith('src/'))
        .flatMap(([path, text]) => importsOf(path, text).imports)
        .flatMap(({ specifier }) => /^@toolkeel\/([\w-]+)/.exec(specifier ?? '')?.[1] ?? [])
        .filter((to) => to !== folder && !known.includes(`packages/${to}`))
        .map((to) => `packages/${folder}/tsconfig.json does not reference ../${to}`);
    });
    expect([...new Set(missing)]).toEqual([]);
  });

  test('has package names that match their folders', () => {
    for (const { folder, dir, manifest } of packages)
      expect(`${relative(root, dir)} ${manifest.name}`).toBe(
        `${join('packages', folder)} ${folder === 'cli' ? 'toolkeel' : `@toolkeel/${folder}`}`,
      );
  });
});
