import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acceptControls, type Pack } from '@toolkeel/contract';
import { createHost, decideBy } from '@toolkeel/host';
import {
  createJournal,
  openEncryption,
  openStore,
  type JournalOptions,
  type JournalStore,
} from '@toolkeel/journal';
import { compilePolicy, type PolicyConfig } from '@toolkeel/policy';
import type { XSandbox } from '@toolkeel/sandbox';
import { createXPack, x } from '../../src/index.js';
import { useClosing } from './closing.js';
import { connect, type Connected } from './connect.js';
import type { Config } from './rig.js';

export interface Governed extends Connected {
  readonly store: JournalStore;
}

export interface ServeOptions {
  /** Where the journal is. Servers that share it are one installation. */
  readonly folder: string;
  readonly config: Config;
  readonly env?: Readonly<Record<string, string>>;
  readonly rules?: PolicyConfig;
  readonly journal?: Partial<JournalOptions>;
  readonly profile?: 'readonly' | 'api';
}

/** The shortest wait that jitter can give: tests of retries need not take their time. */
const hasty = (pack: Pack): Pack => ({
  ...pack,
  create: (config, deps) => pack.create(config, { ...deps, random: () => 0 }),
});

/** A host with a journal in SQLite and a policy, on loopback, and a client of it. */
async function serve(options: ServeOptions): Promise<Governed> {
  const { folder, config, env = {}, rules = {}, profile = 'api' } = options;
  const compiled = compilePolicy(rules, { profile, tools: x.describe().map(acceptControls) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
  const { policy } = compiled;
  const store = await openStore('sqlite:journal.db', { dataDir: folder });
  const encryption = await openEncryption(store, folder);
  const host = createHost({
    packs: [{ pack: hasty(createXPack({ env })), config }],
    profile,
    policy,
    journal: (deps) =>
      createJournal({ store, encryption, decide: decideBy(policy), ...deps, ...options.journal }),
    callTimeoutMs: (config.toolTimeoutSecs ?? 15) * 1000,
  });
  const http = await host.listen({ port: 0 });
  const client = await connect(`${http.url}/mcp`);
  return {
    ...client,
    store,
    close: async () => {
      await client.close();
      await http.close();
      await host.close(0);
      await store.close();
    },
  };
}

/** Folders and servers that end with the suite. */
export function useGoverned() {
  // Whoever is asked first is the last to close: nobody uses a folder any more then.
  const afterAllElse = useClosing();
  const onClose = useClosing();
  return {
    newFolder: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'toolkeel-x-'));
      afterAllElse(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    onClose,
    start: async (options: ServeOptions): Promise<Governed> => {
      const server = await serve(options);
      onClose(() => server.close());
      return server;
    },
  };
}

/** Configuration and secrets of somebody who is logged in to this X. */
export function loginTo(sandbox: XSandbox, config: Config = {}) {
  const tier = sandbox.tier();
  return {
    config: { baseUrl: sandbox.url, accessToken: { env: 'USER' }, tier, ...config },
    env: { USER: sandbox.credentials.accessToken, APP: sandbox.credentials.bearerToken },
  };
}
