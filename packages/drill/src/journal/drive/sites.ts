import { launch, type Launch } from '../server/joined.js';
import type { ServerSettings } from '../server/settings.js';
import { startRpcServer, type RpcServer } from './rpc.js';

/** Starts a server of the drill as a process. */
export function startServer(
  settings: ServerSettings,
  { script, env }: Launch = launch,
): Promise<RpcServer> {
  return startRpcServer([script, JSON.stringify(settings)], env);
}

/** A server that is killed now and then, and always started again. */
export class Site {
  readonly #settings: ServerSettings;
  readonly #launch: Launch;
  #server: Promise<RpcServer>;
  #closed = false;
  #isUp = false;
  deaths = 0;

  constructor(settings: ServerSettings, how: Launch = launch) {
    this.#settings = settings;
    this.#launch = how;
    this.#server = this.#start();
  }

  server(): Promise<RpcServer> {
    return this.#server;
  }

  /** Whether there is somebody to kill. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Ends it as nobody expects, and starts its successor. */
  async kill(): Promise<void> {
    if (this.#closed || !this.#isUp) return;
    this.#isUp = false;
    this.deaths += 1;
    const server = await this.#server;
    server.kill('SIGKILL');
    this.#server = server.gone.then(() => this.#start());
    await this.#server;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const server = await this.#server;
    server.kill('SIGTERM');
    await server.gone;
  }

  /** On a machine that is busy with other things a start may take too long; one that never works is a mistake. */
  async #start(triesLeft = 3): Promise<RpcServer> {
    try {
      const server = await startServer(this.#settings, this.#launch);
      this.#isUp = true;
      return server;
    } catch (cause) {
      if (triesLeft === 0) throw cause;
      return this.#start(triesLeft - 1);
    }
  }
}
