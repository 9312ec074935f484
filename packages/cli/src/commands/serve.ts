import type { HttpOptions } from '@toolkeel/host';
import { parseAddress } from '../address.js';
import { openHost, type OpenedHost, type ServerFlags } from '../open-host.js';
import { packNames } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';

export interface ServeFlags extends ServerFlags {
  /** `true` where no address follows. */
  readonly http?: string | true;
}

const AFTER_FIRST_ANSWER_MS = 200;

/** MCP on stdin and stdout, or over HTTP, until the client leaves or somebody stops it. */
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
  // `serve --http stac` means the pack: no machine is called like one.
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
  // The first answers do not wait for the journal. Where it cannot be opened there are no others.
  const cannotStart = new Promise<never>((_resolve, reject) => {
    setTimeout(() => {
      governance.ready().catch(reject);
    }, AFTER_FIRST_ANSWER_MS).unref();
  });
  try {
    await Promise.race([stdio.closed, stopped, cannotStart]);
  } finally {
    // Answers of calls that still run go out before the way out is closed.
    await close();
    await stdio.close();
  }
}

/** Listens until somebody stops it. `welcome` is told where. */
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
