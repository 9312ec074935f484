import { afterEach } from 'vitest';
import type * as z from 'zod';
import type { configSchema, RuntimeContext } from '../../src/index.js';
import { createRig, type Rig } from './rig.js';
import { startServer, type Answering, type TestServer } from './server.js';

export interface World {
  readonly rig: Rig;
  readonly server: TestServer;
}

type Config = z.input<typeof configSchema>;

/** Servers and packs that end with the test. */
export function useWorld() {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  const serve = async (answering: Answering, host?: string): Promise<TestServer> => {
    const server = await startServer(answering, host);
    closing.push(() => server.close());
    return server;
  };
  const rigFor = async (config: Config, runtime?: RuntimeContext): Promise<Rig> => {
    const rig = await createRig(config, runtime);
    closing.push(() => rig.close());
    return rig;
  };
  /** One server, configured as the only catalogue. */
  const world = async (answering: Answering, config: Config = {}): Promise<World> => {
    const server = await serve(answering);
    const rig = await rigFor({ catalogs: { test: { url: server.origin } }, ...config });
    return { rig, server };
  };
  return { serve, rigFor, world };
}
