import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compileBlocks } from './support/compile-docs.js';
import { problemsIn, type Documentation } from './support/docs.js';
import { anchorOf, readPage, tablesIn } from './support/markdown.js';
import { readManifest, root, workspacePackages } from './support/workspace.js';

const markdownIn = (dir: string, recursive: boolean): string[] =>
  readdirSync(join(root, dir), { recursive, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(dir, path).replaceAll('\\', '/'));

const paths = [
  ...markdownIn('.', false),
  ...markdownIn('docs', true),
  ...markdownIn('examples', true),
  ...workspacePackages().flatMap(({ folder }) => markdownIn(`packages/${folder}`, false)),
];

describe('the documentation', () => {
  const pages = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));

  test('has the standard pages', () => {
    for (const page of ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'])
      expect(paths).toContain(page);
    expect(readFileSync(join(root, 'LICENSE'), 'utf8')).toContain('Apache License');
  });

  test('refers only to existing commands, files and links', () => {
    const scripts = new Set(Object.keys(readManifest(root).scripts ?? {}));
    const exists = (path: string): boolean => existsSync(join(root, path));
    expect(problemsIn({ pages, scripts, exists })).toEqual([]);
  });

  test('names functions of the files in which symptoms are to be looked for', () => {
    const rows = [...(pages.get('CONTRIBUTING.md') ?? '').matchAll(/`(\w\S*?\.ts)`: ([^|]+)\|/g)];
    expect(rows.length).toBeGreaterThan(8);
    for (const [, path = '', names = ''] of rows) {
      const source = readFileSync(join(root, 'packages', path), 'utf8');
      for (const [, name = ''] of names.matchAll(/`(\w+)`/g))
        expect(source, `${path}: ${name}`).toMatch(new RegExp(`function\\*? ${name}\\b`));
    }
  });

  test('shows files as they are', () => {
    const shown = [...pages].flatMap(([page, text]) =>
      readPage(text).blocks.flatMap(({ line, info, text: code }) => {
        const [, path] = /^js (\S+)$/.exec(info) ?? [];
        return path === undefined ? [] : [{ at: `${page}:${line}`, path, code: `${code}\n` }];
      }),
    );
    expect(shown.map(({ path }) => path)).toContain('examples/tickets/tickets.js');
    for (const { at, path, code } of shown)
      expect({ at, code }).toEqual({ at, code: readFileSync(join(root, path), 'utf8') });
  });

  test('contains only code that compiles', async () => {
    expect(await compileBlocks(pages)).toEqual([]);
  }, 90_000);

  describe('the ADR index', () => {
    const index = pages.get('docs/adr/README.md') ?? '';
    const files = paths.filter((path) => /^docs\/adr\/\d/.test(path)).toSorted();

    test('has one table of seeds and one of decisions', () => {
      const tables = tablesIn(index);
      expect(tables.map(({ head }) => head[0])).toEqual(['seed', 'number']);
      expect(tables[0]?.rows.map(([seed]) => seed)).toEqual(['000', '001', '002', '003', '004']);
      expect(tables[0]?.rows.join()).not.toContain('](');
    });

    test('lists every ADR once, in order, with its title', () => {
      const expected = files.map((path) => {
        const [, number, title] = /^# (\d{3})\. (.+)$/m.exec(pages.get(path) ?? '') ?? [];
        return [number, `[${title}](${path.slice('docs/adr/'.length)})`];
      });
      expect(tablesIn(index)[1]?.rows).toEqual(expected);
    });

    test('has unique numbers', () => {
      const numbers = files.map((path) => path.slice('docs/adr/'.length).slice(0, 3));
      expect(new Set(numbers).size).toBe(numbers.length);
    });
  });
});

describe('the documentation check', () => {
  const problems = (pages: Record<string, string>): string[] => {
    const documentation: Documentation = {
      pages: new Map(Object.entries(pages)),
      scripts: new Set(['test', 'check']),
      exists: (path) => path in pages || path === 'docs' || path === 'scripts/test.mjs',
    };
    return problemsIn(documentation);
  };

  test.for([
    ['a dead link', '\n[a](missing.md)', 'README.md:2 links to missing.md, which does not exist'],
    [
      'a dead reference',
      '[a]: missing.md',
      'README.md:1 links to missing.md, which does not exist',
    ],
    ['a link out', '[a](../secret)', 'README.md:1 links out of the repository: ../secret'],
    [
      'a dead anchor',
      '# Title\n[a](#other)',
      'README.md:2 links to #other, but README.md has no such heading',
    ],
    [
      'a missing script',
      'Run `npm run deploy`.',
      'README.md:1 names "npm run deploy", which package.json does not have',
    ],
    [
      'a missing command in a block',
      '```sh\nnpm start\n```',
      'README.md:2 names "npm start", which package.json does not have',
    ],
    ['a script without run', '`npm check`', 'README.md:1 "npm check" must be "npm run check"'],
    [
      'a missing file',
      'See `scripts/gone.mjs`.',
      'README.md:1 names scripts/gone.mjs, which does not exist',
    ],
    [
      'unchecked code without a reason',
      '```ts no-check\nlet a\n```',
      'README.md:1 is not checked and gives no reason: write "ts no-check: the reason"',
    ],
  ] as const)('reports %s', ([, text, expected]) => {
    expect(problems({ 'README.md': text })).toEqual([expected]);
  });

  test('accepts valid pages', () => {
    const text = [
      '# The *title*, with `code`!',
      '[a](docs) [b](#the-title-with-code) [c](other.md#part-2) [d](https://example.org/x)',
      '`npm test`, `npm run check -- --all`, `npm ci`, `scripts/test.mjs`, `docs/*.md`,',
      '`packages/x/dist/index.js`, an npm package, [`code`](other.md), `[no](link.md)`',
      '```ts no-check: shows a mistake\nlet a: = 1\n```',
    ].join('\n');
    expect(problems({ 'README.md': text, 'other.md': '## Part 2' })).toEqual([]);
  });

  test('checks the format of an ADR', () => {
    const good = '# 001. Do it\n## Status\n## Context\n## Decision\n## Consequences';
    expect(problems({ 'docs/adr/001-do-it.md': good, 'docs/adr/README.md': '' })).toEqual([]);
    expect(problems({ 'docs/adr/1-do-it.md': good })).toEqual([
      'docs/adr/1-do-it.md:1 is not named NNN-title.md',
    ]);
    expect(problems({ 'docs/adr/002-do-it.md': '# 001. Do it\n## Status' })).toEqual([
      expect.stringContaining('begin with "# 002. "'),
      expect.stringContaining('Status, Context, Decision, Consequences'),
    ]);
  });

  test('compiles code and reports the line of the page', async () => {
    const page = [
      'Text.',
      '```ts',
      "import type { Fault } from '@toolkeel/kernel';",
      "const fault: Fault = { kind: 'no such kind', sent: 'no' };",
      '```',
      '```ts',
      "const fault: number = 'separate from the block before';",
      '```',
      '```js',
      'not checked',
      '```',
    ].join('\n');
    expect(await compileBlocks(new Map([['docs/a.md', page]]))).toEqual([
      expect.stringMatching(/^docs\/a\.md:4 .*no such kind/),
      expect.stringMatching(/^docs\/a\.md:7 .*number/),
    ]);
  });

  test('rejects a block that is never closed', () => {
    expect(() => problems({ 'README.md': '```ts\nlet a' })).toThrow('line 1 is never closed');
  });

  test.for([
    ['The kernel in a minute', 'the-kernel-in-a-minute'],
    ['`npm test`: what?', 'npm-test-what'],
    ['A — b', 'a--b'],
  ] as const)('generates the anchor of %j', ([heading, anchor]) => {
    expect(anchorOf(heading)).toBe(anchor);
  });
});
