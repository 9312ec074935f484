import { useClosing } from './closing.js';
import { createRig, type Config, type Rig } from './rig.js';
import { startServer, type Answering, type TestServer } from './server.js';

export interface World {
  readonly rig: Rig;
  readonly server: TestServer;
}

/** Servers and packs that end with the suite. */
export function useWorld() {
  const onClose = useClosing();
  const serve = async (answering: Answering): Promise<TestServer> => {
    const server = await startServer(answering);
    onClose(() => server.close());
    return server;
  };
  const rigFor = async (config: Config): Promise<Rig> => {
    const rig = await createRig(config);
    onClose(() => rig.close());
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
  return { serve, rigFor, world, onClose };
}
