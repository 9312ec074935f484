import type { RunOptions } from '@toolkeel/contract';
import { createJournal, ephemeralEncryption, memoryStore } from '@toolkeel/journal';
import {
  createPackRig,
  startScriptedUpstream,
  type Handler,
  type PackRig,
  type ScriptedUpstream,
} from '@toolkeel/pack-kit/testing';
import { startXSandbox, type Commit, type XSandbox, type XSandboxOptions } from '@toolkeel/sandbox';
import type * as z from 'zod';
import { createXPack, type configSchema, type RuntimeContext } from '../../src/index.js';
import { useClosing } from './closing.js';

export type Config = z.input<typeof configSchema>;

export const secrets = {
  APP: 'app-bearer-token',
  USER: 'user-access-token',
  SECRET: 'client-secret',
};

/** The pack, with an X on loopback. */
const createRig = (config: Config, context: RuntimeContext = {}): Promise<PackRig> =>
  createPackRig(createXPack({ env: secrets, ...context }), config);

/** Runs mutations in a journal, which reads back posts with an unknown outcome. */
export function journaled(
  { instance }: PackRig,
  timeoutMs = 15_000,
): Pick<RunOptions, 'middleware'> {
  const journal = createJournal({
    store: memoryStore(),
    encryption: ephemeralEncryption(),
    tools: {
      specs: () => instance.tools,
      load: (name) => instance.tools.find((tool) => tool.name === name),
    },
  });
  const { signal } = new AbortController();
  return {
    middleware: (call, next) => {
      const deadline = performance.now() + timeoutMs;
      const scope = { deadline, signal, meta: {}, hold: () => undefined };
      return journal.middleware(call, (extra) => next({ deadline, signal, ...extra }), scope);
    },
  };
}

interface SandboxWorld {
  readonly rig: PackRig;
  readonly sandbox: XSandbox;
  /** Another instance of the pack. */
  readonly another: (config?: Config) => Promise<PackRig>;
}

/** A sandbox and an authenticated pack, closed with the suite. */
export function useSandbox() {
  const onClose = useClosing();
  return async (
    options: XSandboxOptions = {},
    config: Config = {},
    context: RuntimeContext = {},
  ): Promise<SandboxWorld> => {
    const sandbox = await startXSandbox(options);
    onClose(() => sandbox.close());
    const { credentials } = sandbox;
    const another = async (more: Config = {}): Promise<PackRig> => {
      const env = { APP: credentials.bearerToken, USER: credentials.accessToken };
      const tier = options.tier ?? 'self_serve';
      const rig = await createRig(
        { baseUrl: sandbox.url, accessToken: { env: 'USER' }, tier, ...config, ...more },
        { env, ...context },
      );
      onClose(() => rig.close());
      return rig;
    };
    return { rig: await another(), sandbox, another };
  };
}

type Made = Extract<Commit, { readonly kind: 'post.created' }>;

/** The posts that X has created, in order. */
export function created(sandbox: XSandbox): readonly Made[] {
  return sandbox.commits().filter((commit): commit is Made => commit.kind === 'post.created');
}

export interface World {
  readonly rig: PackRig;
  readonly server: ScriptedUpstream;
}

/** Servers and packs, closed with the suite. */
export function useWorld() {
  const onClose = useClosing();
  const serve = async (answering: Handler): Promise<ScriptedUpstream> => {
    const server = await startScriptedUpstream(answering);
    onClose(() => server.close());
    return server;
  };
  const rigFor = async (config: Config): Promise<PackRig> => {
    const rig = await createRig(config);
    onClose(() => rig.close());
    return rig;
  };
  /** A scripted X and an authenticated pack. */
  const world = async (answering: Handler, config: Config = {}): Promise<World> => {
    const server = await serve(answering);
    const rig = await rigFor({
      baseUrl: server.origin,
      accessToken: { env: 'USER' },
      ...config,
    });
    return { rig, server };
  };
  return { serve, rigFor, world, onClose };
}
