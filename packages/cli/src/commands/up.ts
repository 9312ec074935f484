import { openHost, type ServerFlags } from '../open-host.js';
import type { Surroundings } from '../surroundings.js';
import { welcomeText } from '../welcome.js';
import { serveHttp } from './serve.js';

export interface UpFlags extends ServerFlags {
  readonly host?: string;
  readonly port?: number;
}

/** Everything over HTTP, with a word of welcome. */
export async function up(
  named: readonly string[],
  flags: UpFlags,
  surroundings: Surroundings,
  stopped: Promise<void>,
): Promise<void> {
  const { host, port } = flags;
  const address = { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
  const opened = await openHost(named, flags, surroundings, address);
  const { stdout } = surroundings;
  await serveHttp(opened, stopped, ({ url }) => {
    stdout.write(welcomeText(opened, url, stdout.colours));
  });
}
