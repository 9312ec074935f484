import { afterEach } from 'vitest';
import { createRig, type Config, type Rig } from './rig.js';
import { startServer, type Answering, type TestServer } from './server.js';

export interface World {
  readonly rig: Rig;
  readonly server: TestServer;
}

/** Servers and packs that end with the test. */
export function useWorld() {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  const serve = async (answering: Answering): Promise<TestServer> => {
    const server = await startServer(answering);
    closing.push(() => server.close());
    return server;
  };
  const rigFor = async (config: Config): Promise<Rig> => {
    const rig = await createRig(config);
    closing.push(() => rig.close());
    return rig;
  };
  /** One server that plays X, and an account that is logged in. */
  const world = async (answering: Answering, config: Config = {}): Promise<World> => {
    const server = await serve(answering);
    const rig = await rigFor({
      baseUrl: server.origin,
      accessToken: { env: 'USER' },
      ...config,
    });
    return { rig, server };
  };
  return { serve, rigFor, world, onClose: (close: () => Promise<unknown>) => closing.push(close) };
}
