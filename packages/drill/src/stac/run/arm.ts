import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN_NAME, OTHER_NAME } from '../calls/arguments.js';
import { serverEnvironment, settings } from '../rig/settings.js';
import { startServer, type Server, type ServerOptions } from '../rig/server.js';
import type { Upstream } from '../rig/upstreams.js';
import { DrillError } from '../drill-error.js';

/** A server and the upstreams that are its alone. */
export interface RunningArm {
  readonly server: Server;
  readonly upstreams: readonly Upstream[];
  /** Before a block: makes what the pack knows of first pages new, unless it is still fresh. */
  readonly renew: () => Promise<void>;
}

export interface ArmOptions {
  readonly command: ServerOptions['command'];
  /** Where the server's configuration and data go. */
  readonly dir: string;
  readonly sites: number;
  readonly hedge: boolean;
  readonly upstreams: readonly [main: Upstream, other: Upstream];
}

/**
 * The pack forgets a first page after five minutes, or when it has seen 64 newer ones, of which a
 * block has 16. A measured call must not be the one to notice.
 */
const FRESH_MS = 120_000;
const FRESH_BLOCKS = 3;

export async function startArm(options: ArmOptions): Promise<RunningArm> {
  const { command, dir, upstreams, hedge, sites } = options;
  const [main, other] = upstreams;
  mkdirSync(dir, { recursive: true });
  const config = join(dir, 'toolkeel.config.json');
  const said = settings({ mainUrl: main.url, otherUrl: other.url, hedge, sites });
  writeFileSync(config, JSON.stringify(said));
  const env = serverEnvironment(process.env, {
    TOOLKEEL_CONFIG: config,
    TOOLKEEL_DATA_DIR: dir,
    TOOLKEEL_STAC_URL: main.url,
  });
  const server = await startServer({ command, env });
  let renewedAt = -Infinity;
  let blocks = 0;
  const renew = async (): Promise<void> => {
    const isFresh = performance.now() - renewedAt < FRESH_MS;
    if (isFresh && blocks++ % FRESH_BLOCKS > 0) return;
    await Promise.all([MAIN_NAME, OTHER_NAME].map((catalog) => readRoot(server, catalog)));
    renewedAt = performance.now();
  };
  return { server, upstreams, renew };
}

const PATIENCE = 10;

/** Under faults it may take more than one call. */
async function readRoot({ call }: Server, catalog: string): Promise<void> {
  for (let tries = 0; tries < PATIENCE; tries++) {
    const { answer } = await call('get_root', { catalog });
    if (!('thrown' in answer) && answer.isError !== true) return;
  }
  throw new DrillError(`the server could not read the first page of ${catalog}`);
}
