import { describe, expect, test } from 'vitest';
import { violationsIn, type PackageFiles, type Rule } from './support/architecture.js';
import { importsOf } from './support/imports.js';

describe('the import reader', () => {
  const read = (text: string): string[] =>
    importsOf('a.ts', text).imports.map(
      ({ specifier, line, typeOnly }) => `${line} ${specifier}${typeOnly ? ' (types)' : ''}`,
    );

  test.for([
    ["import 'a';", '1 a'],
    ["import a from 'a';", '1 a'],
    ["import * as a from 'a';", '1 a'],
    ["import a, { type B } from 'a';", '1 a'],
    ["import type A from 'a';", '1 a (types)'],
    ["import type { A } from 'a';", '1 a (types)'],
    // The import remains after compilation, without names.
    ["import { type A } from 'a';", '1 a'],
    ["import {} from 'a';", '1 a'],
    ["export * from 'a';", '1 a'],
    ["export * as a from 'a';", '1 a'],
    ["export { a } from 'a';", '1 a'],
    ["export type { A } from 'a';", '1 a (types)'],
    ["export type * from 'a';", '1 a (types)'],
    ["const a = await import('a');", '1 a'],
    ['const a = await import(name);', '1 undefined'],
    ["type A = import('a').A;", '1 a (types)'],
    ["let a: typeof import('a');", '1 a (types)'],
    ["import a = require('a');", '1 a'],
    ["const a = require('a');", '1 a'],
    ["import a from './a.json' with { type: 'json' };", '1 ./a.json'],
    ["\n/** import 'no' */\nconst s = \"import 'no'\";\nimport 'a';", '4 a'],
    ["const f = () => {\n  return import('a');\n};", '2 a'],
  ] as const)('reads %j', ([text, expected]) => {
    expect(read(text)).toEqual([expected]);
  });

  test('returns imports by line and reports syntax errors', () => {
    expect(read("import 'a';\nimport 'b';\nexport * from 'c';")).toEqual(['1 a', '2 b', '3 c']);
    expect(importsOf('a.ts', 'import { from').error).toBeTypeOf('string');
    expect(read('export const a = 1;')).toEqual([]);
  });
});

describe('the rules', () => {
  type Fixture = Partial<Omit<PackageFiles, 'files'>> & { files: Record<string, string> };
  const inspect = (fixtures: Record<string, Fixture>): string[] => {
    const packages = Object.entries(fixtures).map(
      ([folder, { manifest, files }]): PackageFiles => ({
        folder,
        manifest: { name: `@toolkeel/${folder}`, ...manifest },
        files: new Map(Object.entries(files)),
      }),
    );
    return violationsIn(packages).map(({ rule, file, line }) => `${rule} ${file}:${line}`);
  };
  const kernel: Fixture = {
    manifest: { name: '@toolkeel/kernel', exports: { '.': 'x', './testing': 'x' } },
    files: {},
  };
  const needs = (...names: string[]): PackageFiles['manifest'] => ({
    name: '',
    dependencies: Object.fromEntries(names.map((name) => [name, '1.0.0'])),
  });

  interface Case {
    readonly what: string;
    readonly packages: Record<string, Fixture>;
    readonly expected: `${Rule} ${string}`[];
  }

  const cases: Case[] = [
    {
      what: 'a folder without import rules',
      packages: { billing: { files: { 'src/index.ts': '' } } },
      expected: ['unknown-package packages/billing:1'],
    },
    {
      what: 'a folder named like a property of every object',
      packages: { constructor: { files: { 'src/index.ts': '' } } },
      expected: ['unknown-package packages/constructor:1'],
    },
    {
      what: 'kernel importing another package of the workspace',
      packages: {
        kernel: { files: { 'src/a.ts': "\nimport type {} from '@toolkeel/contract';" } },
      },
      expected: ['forbidden-import packages/kernel/src/a.ts:2'],
    },
    {
      what: 'kernel with a dependency, declared or only for types',
      packages: {
        kernel: {
          manifest: needs('zod', 'undici'),
          files: { 'src/a.ts': "import 'zod';\nimport type {} from 'undici';" },
        },
      },
      expected: [
        'no-externals packages/kernel/src/a.ts:1',
        'no-externals packages/kernel/src/a.ts:2',
      ],
    },
    {
      what: 'kernel with a Node.js module, with and without the node: prefix',
      packages: {
        kernel: {
          files: {
            'src/a.ts': "import 'node:crypto';\nimport 'fs';\nimport 'node:timers/promises';",
            'src/testing/clock.ts': "import 'node:crypto';",
            'src/a.test.ts': "import 'node:fs';",
          },
        },
      },
      expected: [1, 2, 3].map(
        (line): Case['expected'][number] => `no-builtins packages/kernel/src/a.ts:${line}`,
      ),
    },
    {
      what: 'a dependency of a bundle outside of its folder',
      packages: {
        console: {
          manifest: { name: '', devDependencies: { preact: '10.0.0' } },
          files: { 'src/app/a.tsx': "import 'preact';", 'src/a.ts': "import 'preact';" },
        },
      },
      expected: ['undeclared packages/console/src/a.ts:1'],
    },
    {
      what: 'policy with a Node.js module',
      packages: { policy: { files: { 'src/a.ts': "import 'node:crypto';" } } },
      expected: ['no-builtins packages/policy/src/a.ts:1'],
    },
    {
      what: 'source that imports test code',
      packages: {
        kernel: {
          files: {
            'src/a.ts': [
              "import './a.test.js';",
              "import './a.fixture.js';",
              "import './testing/index.js';",
              "import '../test/b.js';",
            ].join('\n'),
            'src/testing/index.ts': "import './clock.js';\nimport '../a.js';",
            'src/a.fixture.ts': "import './testing/index.js';",
            'src/a.test.ts': "import './a.fixture.js';\nimport '../test/b.js';",
          },
        },
      },
      expected: [1, 2, 3, 4].map(
        (line): Case['expected'][number] => `test-code packages/kernel/src/a.ts:${line}`,
      ),
    },
    {
      what: "contract using kernel's code, not only its types",
      packages: {
        kernel,
        contract: {
          manifest: needs('@toolkeel/kernel'),
          files: {
            'src/a.ts': [
              "import type { Fault } from '@toolkeel/kernel';",
              "import { type Fault } from '@toolkeel/kernel';",
              "import { guard } from '@toolkeel/kernel';",
              "export { guard } from '@toolkeel/kernel';",
              "export type { Fault } from '@toolkeel/kernel';",
              "const k = await import('@toolkeel/kernel');",
              "type F = import('@toolkeel/kernel').Fault;",
              "import '@toolkeel/kernel';",
            ].join('\n'),
            'src/a.test.ts': "import { guard } from '@toolkeel/kernel';",
          },
        },
      },
      expected: [2, 3, 4, 6, 8].map(
        (line): Case['expected'][number] => `types-only packages/contract/src/a.ts:${line}`,
      ),
    },
    {
      what: 'contract with a dependency that is not zod',
      packages: {
        contract: {
          manifest: needs('zod', 'ajv'),
          files: { 'src/a.ts': "import { z } from 'zod/mini';\nimport 'ajv';" },
        },
      },
      expected: ['no-externals packages/contract/src/a.ts:2'],
    },
    {
      what: 'a pack importing the host, another pack, or the code of the journal',
      packages: {
        x: {
          manifest: needs('@toolkeel/host', '@toolkeel/llm', '@toolkeel/journal'),
          files: {
            'src/a.ts': [
              "import type {} from '@toolkeel/host';",
              "import '@toolkeel/llm';",
              "import '@toolkeel/journal';",
              "import type {} from '@toolkeel/journal';",
            ].join('\n'),
            'test/a.test.ts': "import '@toolkeel/host';\nimport '@toolkeel/llm';",
          },
        },
      },
      expected: [
        'forbidden-import packages/x/src/a.ts:1',
        'forbidden-import packages/x/src/a.ts:2',
        'types-only packages/x/src/a.ts:3',
        'forbidden-import packages/x/test/a.test.ts:2',
      ],
    },
    {
      what: 'a host importing a pack',
      packages: {
        host: { manifest: needs('@toolkeel/x'), files: { 'src/a.ts': "import('@toolkeel/x');" } },
      },
      expected: ['forbidden-import packages/host/src/a.ts:1'],
    },
    {
      what: 'a sandbox that shares code with the clients, or with the kernel that they use',
      packages: {
        sandbox: {
          manifest: needs('@toolkeel/github', '@toolkeel/kernel'),
          files: { 'src/a.ts': "import '@toolkeel/github';\nimport '@toolkeel/kernel';" },
        },
      },
      expected: [
        'forbidden-import packages/sandbox/src/a.ts:1',
        'forbidden-import packages/sandbox/src/a.ts:2',
      ],
    },
    {
      what: 'a package importing the cli',
      packages: {
        drill: {
          manifest: needs('@toolkeel/cli'),
          files: { 'src/a.ts': "import '@toolkeel/cli';" },
        },
      },
      expected: ['forbidden-import packages/drill/src/a.ts:1'],
    },
    {
      what: 'a dependency that package.json does not declare, or only for tests',
      packages: {
        kernel,
        journal: {
          manifest: { name: '', devDependencies: { vitest: '1.0.0', pg: '1.0.0' } },
          files: {
            'src/a.ts': "import 'pg';\nimport '@scope/name/sub';\nimport '@toolkeel/kernel';",
            'src/a.test.ts': "import 'vitest';\nimport 'pg';\nimport 'fast-check';",
          },
        },
      },
      expected: [
        'undeclared packages/journal/src/a.ts:1',
        'undeclared packages/journal/src/a.ts:2',
        'undeclared packages/journal/src/a.ts:3',
        'undeclared packages/journal/src/a.test.ts:3',
      ],
    },
    {
      what: 'declared optional and peer dependencies',
      packages: {
        llm: {
          manifest: {
            name: '',
            peerDependencies: { sdk: '1' },
            optionalDependencies: { libsql: '1' },
          },
          files: { 'src/a.ts': "import('sdk');\nimport('libsql');" },
        },
      },
      expected: [],
    },
    {
      what: "an import of another package's internal files",
      packages: {
        kernel,
        journal: {
          manifest: needs('@toolkeel/kernel'),
          files: {
            'src/deep/a.ts': [
              "import '@toolkeel/kernel/src/guard.js';",
              "import '@toolkeel/kernel/dist/guard.js';",
              "import '../../../kernel/src/guard.js';",
              "import '../a.js';",
              "import '@toolkeel/journal';",
            ].join('\n'),
            'test/a.test.ts': "import '../../kernel/dist/index.js';\nimport '../src/deep/a.js';",
          },
        },
      },
      expected: [
        'deep-import packages/journal/src/deep/a.ts:1',
        'deep-import packages/journal/src/deep/a.ts:2',
        'deep-import packages/journal/src/deep/a.ts:3',
        'deep-import packages/journal/src/deep/a.ts:5',
        'deep-import packages/journal/test/a.test.ts:1',
      ],
    },
    {
      what: "another package's test kit in source; it is allowed in tests and in the drill",
      packages: {
        kernel,
        journal: {
          manifest: needs('@toolkeel/kernel'),
          files: {
            'src/a.ts': "import '@toolkeel/kernel/testing';",
            'src/a.test.ts': "import '@toolkeel/kernel/testing';",
          },
        },
        drill: {
          manifest: needs('@toolkeel/kernel'),
          files: { 'src/a.ts': "import '@toolkeel/kernel/testing';" },
        },
      },
      expected: ['test-code packages/journal/src/a.ts:1'],
    },
    {
      what: 'an import whose name is computed',
      packages: {
        host: {
          files: { 'src/a.ts': 'await import(name);', 'test/a.test.ts': 'await import(name);' },
        },
      },
      expected: ['unreadable packages/host/src/a.ts:1'],
    },
    {
      what: 'a file that does not parse',
      packages: { host: { files: { 'src/a.ts': 'import { from' } } },
      expected: ['unreadable packages/host/src/a.ts:1'],
    },
  ];

  test.for(cases)('report $what', ({ packages, expected }) => {
    expect(inspect(packages)).toEqual(expected);
  });

  test('report a cycle of packages once, with the whole cycle', () => {
    const free = { builtins: true, externals: 'any' } as const;
    const one = (to: string): Map<string, string> =>
      new Map([['src/a.ts', `\nimport '@toolkeel/${to}';`]]);
    const found = violationsIn(
      [
        { folder: 'a', manifest: needs('@toolkeel/b'), files: one('b') },
        { folder: 'b', manifest: needs('@toolkeel/c'), files: one('c') },
        { folder: 'c', manifest: needs('@toolkeel/a'), files: one('a') },
      ],
      {
        a: { ...free, imports: { b: 'values' } },
        b: { ...free, imports: { c: 'values' } },
        c: { ...free, imports: { a: 'values' } },
      },
    ).filter(({ rule }) => rule === 'cycle');
    expect(found).toEqual([
      {
        rule: 'cycle',
        file: 'packages/c/src/a.ts',
        line: 2,
        message: 'packages import each other: a → b → c → a',
      },
    ]);
  });

  test('explain how to fix a violation', () => {
    const messages = violationsIn([
      { folder: 'billing', manifest: { name: '' }, files: new Map() },
      {
        folder: 'contract',
        manifest: { name: '' },
        files: new Map([['src/a.ts', "import 'zod';"]]),
      },
    ]).map(({ message }) => message);
    expect(messages).toEqual([
      expect.stringContaining('add it to the table in test/support/import-rules.ts'),
      'imports zod, which packages/contract/package.json does not declare in its dependencies',
    ]);
  });
});
