/** Whether a package may import code or only types, which do not exist after compilation. */
type ImportKind = 'values' | 'types';

export interface ImportRules {
  /** The workspace packages that its source may import. */
  readonly imports: Readonly<Record<string, ImportKind>>;
  /** The additional packages that its tests may import. */
  readonly testImports?: readonly string[];
  /** Whether its source may use `node:` modules. */
  readonly builtins: boolean;
  /** The third-party packages that its source may import. */
  readonly externals: 'any' | readonly string[];
  /** The file that may import modules whose names are not known before run time. */
  readonly loadsModules?: string;
  /** A folder whose modules are published as a bundle, which contains its devDependencies. */
  readonly bundles?: string;
  /** Whether its source, not only its tests, may use the test kits of other packages. */
  readonly testKits?: true;
}

const values = (...importRules: string[]): Record<string, ImportKind> =>
  Object.fromEntries(importRules.map((folder) => [folder, 'values']));

const unrestricted = { builtins: true, externals: 'any' } as const;

/** A pack imports the journal's types but receives the journal at run time; it never imports the host or other packs. */
const pack: ImportRules = {
  ...unrestricted,
  imports: { ...values('kernel', 'contract', 'pack-kit'), journal: 'types' },
  testImports: ['journal', 'policy', 'host', 'sandbox'],
};

/** The allowed imports of every package. A new folder under packages/ needs an entry with a reason. */
export const importRules: Readonly<Record<string, ImportRules>> = {
  // Pure, without dependencies.
  kernel: { imports: {}, builtins: false, externals: [] },
  policy: { imports: {}, builtins: false, externals: ['zod'] },

  contract: {
    imports: { kernel: 'types' },
    testImports: ['kernel'],
    builtins: true,
    externals: ['zod'],
  },
  journal: { ...unrestricted, imports: values('kernel', 'contract') },
  // Shared by packs; the host uses its redaction, secret sources and suggestions.
  'pack-kit': { ...unrestricted, imports: values('kernel', 'contract') },
  // Of the console the types of the API and the path of the built page, which it serves.
  host: {
    ...unrestricted,
    imports: values('kernel', 'contract', 'policy', 'journal', 'pack-kit', 'console'),
    testImports: ['sandbox'],
  },

  stac: pack,
  x: pack,
  github: pack,
  llm: pack,

  guard: {
    ...unrestricted,
    imports: values('kernel', 'contract', 'policy', 'journal', 'host', 'pack-kit'),
    testImports: ['sandbox'],
    // Fault injection with a seed is one of its features.
    testKits: true,
  },

  // Shares no code with the clients it tests, so that a shared mistake cannot go unnoticed.
  sandbox: { ...unrestricted, imports: {} },
  drill: {
    ...unrestricted,
    imports: values('kernel', 'contract', 'journal', 'host', 'guard', 'sandbox'),
    testKits: true,
  },

  // Runs in a browser.
  console: {
    imports: { ...values('contract'), policy: 'types', journal: 'types' },
    builtins: false,
    externals: 'any',
    bundles: 'src/app/',
    testImports: ['sandbox'],
  },
  // Combines the host and the packs, and loads those that the operator names.
  cli: {
    ...unrestricted,
    loadsModules: 'src/packs/module.ts',
    imports: {
      ...values('kernel', 'contract', 'policy', 'journal', 'host', 'console'),
      ...values('stac', 'x', 'github', 'llm', 'guard', 'sandbox', 'drill'),
    },
    testImports: ['pack-kit'],
  },
};
