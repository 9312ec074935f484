import { fileURLToPath } from 'node:url';
import type { ServerSettings } from '../server/settings.js';
import { startRpcServer, type RpcServer } from './rpc.js';

const script = fileURLToPath(new URL('../server/main.js', import.meta.url));

/** Starts a server of the drill as a process. */
export function startServer(settings: ServerSettings): Promise<RpcServer> {
  return startRpcServer([script, JSON.stringify(settings)], {});
}

/** A server that is killed now and then, and always started again. */
export class Site {
  readonly #settings: ServerSettings;
  #server: Promise<RpcServer>;
  #closed = false;
  deaths = 0;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    this.#server = startServer(settings);
  }

  server(): Promise<RpcServer> {
    return this.#server;
  }

  /** Ends it as nobody expects, and starts its successor. */
  async kill(): Promise<void> {
    const server = await this.#server;
    if (this.#closed || server.isGone()) return;
    server.kill('SIGKILL');
    this.deaths += 1;
    this.#server = server.gone.then(() => startServer(this.#settings));
    await this.#server;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const server = await this.#server;
    server.kill('SIGTERM');
    await server.gone;
  }
}
