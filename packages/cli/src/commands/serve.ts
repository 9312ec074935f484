import type { HttpOptions } from '@toolkeel/host';
import { parseAddress } from '../options.js';
import { openHost, type OpenedHost, type ServerFlags } from '../open-host.js';
import { packNames } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';

export interface ServeFlags extends ServerFlags {
  /** `true` without an address. */
  readonly http?: string | true;
}

const JOURNAL_DELAY_MS = 200;

/** Serves MCP on stdio or HTTP until the client disconnects or a signal arrives. */
export async function serve(
  named: readonly string[],
  flags: ServeFlags,
  runtime: RuntimeContext,
  stopped: Promise<void>,
): Promise<void> {
  const { http } = flags;
  if (http === undefined) {
    try {
      await serveStdio(await openHost(named, flags, runtime), stopped);
    } finally {
      runtime.discardOutput?.();
    }
    return;
  }
  // `serve --http stac` names the pack, not a host.
  const isPack = http !== true && packNames.includes(http);
  const address = http === true || isPack ? {} : parseAddress(http);
  const packs = isPack ? [...named, http] : named;
  await serveHttp(await openHost(packs, flags, runtime, address), stopped, ({ url }) => {
    runtime.stdout.write(`MCP at ${url}/mcp\n`);
  });
}

async function serveStdio(opened: OpenedHost, stopped: Promise<void>): Promise<void> {
  const { host, governance, close } = opened;
  const stdio = host.serveStdio();
  // The first responses do not wait for the journal. If it cannot be opened, the server stops.
  const journalFailure = new Promise<never>((_resolve, reject) => {
    setTimeout(() => {
      governance.ready().catch(reject);
    }, JOURNAL_DELAY_MS).unref();
  });
  try {
    await Promise.race([stdio.closed, stopped, journalFailure]);
  } finally {
    // Responses of running calls are sent before stdout closes.
    await close();
    await stdio.close();
  }
}

/** Listens until a signal arrives. */
export async function serveHttp(
  { host, governance, loaded, close }: OpenedHost,
  stopped: Promise<void>,
  welcome: (at: { readonly url: string }) => void,
  more: Pick<HttpOptions, 'api'> = {},
): Promise<void> {
  try {
    await governance.ready();
    const listening = await host.listen({ ...loaded.httpOptions, ...more });
    welcome(listening);
    await stopped;
    await listening.close();
  } finally {
    await close();
  }
}
