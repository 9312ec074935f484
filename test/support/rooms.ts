/** Whether an arrow may carry code or only types, which are gone after compilation. */
type Arrow = 'values' | 'types';

export interface Room {
  /** Which packages of ours its source may import. */
  readonly imports: Readonly<Record<string, Arrow>>;
  /** What its tests may import beyond that. */
  readonly testImports?: readonly string[];
  /** May its source use `node:` modules? */
  readonly builtins: boolean;
  /** Which packages of others its source may import. */
  readonly externals: 'any' | readonly string[];
  /** May its source, not only its tests, use the virtual clock and scripted upstreams of others? */
  readonly testKits?: true;
}

const values = (...rooms: string[]): Record<string, Arrow> =>
  Object.fromEntries(rooms.map((room) => [room, 'values']));

const free = { builtins: true, externals: 'any' } as const;

/** A pack knows the journal's interface but is given the journal itself; it never sees host or other packs. */
const pack: Room = {
  ...free,
  imports: { ...values('kernel', 'contract', 'pack-kit'), journal: 'types' },
  testImports: ['journal', 'policy', 'host', 'sandbox'],
};

/** Who may import whom. A new folder under packages/ needs its line here, and a reason. */
export const rooms: Readonly<Record<string, Room>> = {
  // The floor: pure, and alone.
  kernel: { imports: {}, builtins: false, externals: [] },
  policy: { imports: {}, builtins: false, externals: ['zod'] },

  contract: {
    imports: { kernel: 'types' },
    testImports: ['kernel'],
    builtins: true,
    externals: ['zod'],
  },
  journal: { ...free, imports: values('kernel', 'contract') },
  // What packs share; the host redacts with it, too.
  'pack-kit': { ...free, imports: values('kernel', 'contract') },
  host: {
    ...free,
    imports: values('kernel', 'contract', 'policy', 'journal', 'pack-kit'),
    testImports: ['sandbox'],
  },

  stac: pack,
  x: pack,
  github: pack,
  llm: pack,

  guard: {
    ...free,
    imports: values('kernel', 'contract', 'policy', 'journal', 'host'),
    testImports: ['sandbox'],
  },

  // Shares no code with the clients that it imitates, so that a shared mistake cannot hide.
  sandbox: { ...free, imports: {} },
  drill: {
    ...free,
    imports: values('kernel', 'contract', 'journal', 'host', 'guard', 'sandbox'),
    testKits: true,
  },

  // Runs in a browser.
  console: {
    imports: { ...values('contract'), policy: 'types', journal: 'types' },
    builtins: false,
    externals: 'any',
  },
  // Puts packs into the host.
  cli: {
    ...free,
    imports: {
      ...values('kernel', 'contract', 'policy', 'journal', 'host', 'console'),
      ...values('stac', 'x', 'github', 'llm', 'guard', 'sandbox', 'drill'),
    },
  },
};
