import { parseAddress } from '../options.js';
import { openHost, type ServerFlags } from '../open-host.js';
import { openCatalog } from '../packs.js';
import { consoleExtras } from '../console-extras.js';
import type { RuntimeContext } from '../runtime.js';

export interface ServeFlags extends ServerFlags {
  /** `true` without an address. */
  readonly http?: string | true;
}

/** Serves MCP on stdio or HTTP until the client disconnects or a signal arrives. */
export async function serve(
  named: readonly string[],
  flags: ServeFlags,
  runtime: RuntimeContext,
  stopped: Promise<void>,
): Promise<void> {
  const { http } = flags;
  const catalog = await openCatalog(flags, runtime);
  if (http === undefined) {
    try {
      await (await openHost(catalog, named, flags, runtime)).stdio(stopped);
    } finally {
      runtime.discardOutput?.();
    }
    return;
  }
  // `serve --http stac` names the pack, not a host.
  const isPack = http !== true && catalog.names.includes(http);
  const address = http === true || isPack ? {} : parseAddress(http);
  const packs = isPack ? [...named, http] : named;
  const server = await openHost(catalog, packs, flags, runtime, address);
  const { url, consoleLink, close } = await server.listen({ console: consoleExtras });
  runtime.stdout.write(`MCP at ${url}/mcp\n`);
  if (consoleLink) runtime.stdout.write(`Console at ${consoleLink()} (signs in once)\n`);
  await stopped;
  await close();
}
