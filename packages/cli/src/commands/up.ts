import {
  consoleTokenFile,
  persistentConsoleToken,
  ephemeralConsoleToken,
  type OperatorApi,
} from '@toolkeel/host';
import { openHost, type OpenedHost, type ServerFlags } from '../open-host.js';
import { shellWord } from '../snippets.js';
import type { RuntimeContext } from '../surroundings.js';
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
  runtime: RuntimeContext,
  stopped: Promise<void>,
): Promise<void> {
  const { host, port } = flags;
  const address = { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
  const opened = await openHost(named, flags, runtime, address);
  const { stdout } = runtime;
  const operatorJournal = await openDesk(opened);
  const welcome = ({ url }: { readonly url: string }): void => {
    stdout.write(welcomeText(opened, url, stdout.colours, operatorJournal?.token));
  };
  await serveHttp(opened, stopped, welcome, operatorJournal ? { api: operatorJournal.api } : {});
}

/** Where people decide, and how to get the token for it in words of a shell. */
async function openDesk({
  governance,
  loaded,
  sandboxes,
  log,
}: OpenedHost): Promise<{ readonly api: OperatorApi; readonly token: string } | undefined> {
  if (sandboxes) {
    const token = ephemeralConsoleToken();
    return { api: await governance.api(token), token: token.reveal() };
  }
  const { dataDir, secrets } = loaded;
  try {
    const api = await governance.api(persistentConsoleToken(dataDir, secrets));
    return { api, token: `$(cat ${shellWord(consoleTokenFile(dataDir))})` };
  } catch (cause) {
    log('warn', 'no_api_for_people', { dir: dataDir, cause });
    return undefined;
  }
}
