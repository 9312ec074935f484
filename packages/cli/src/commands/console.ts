import { setTimeout } from 'node:timers/promises';
import {
  consoleServers,
  consoleTokenFile,
  HostError,
  readSecretFile,
  type ConsoleServer,
} from '@toolkeel/host';
import { UsageError } from '../errors.js';
import { pretty } from '../operator/format.js';
import { openAuditStore, operatorDataDir, type OperatorFlags } from '../operator/journal.js';
import type { RuntimeContext } from '../runtime.js';

export interface ConsoleFlags extends OperatorFlags {
  readonly url?: string;
  readonly name?: string;
}

const TIMEOUT_MS = 10_000;
const START_MS = 5000;
const POLL_MS = 250;

/** Prints a link to the console of a running server, which signs in once. */
export async function consoleLink(flags: ConsoleFlags, runtime: RuntimeContext): Promise<number> {
  const url = flags.url === undefined ? await runningServer(flags, runtime) : baseOf(flags.url);
  const file = consoleTokenFile(operatorDataDir(flags, runtime));
  const token = readSecretFile(file);
  if (!token.ok) {
    throw new HostError(
      `The token of the console cannot be read: ${token.reason}. Use the same --config or TOOLKEEL_DATA_DIR as the server.`,
    );
  }
  const { link, expires_at } = await requestLink(url, token.value, flags.name);
  // The server knows its own address, not that of a proxy in front of it.
  const shown = flags.url === undefined ? link : `${url}/${new URL(link).hash}`;
  const { write } = runtime.stdout;
  if (flags.json) write(`${pretty({ link: shown, expires_at })}\n`);
  else write(`${shown}\nIt signs in once, until ${expires_at}.\n`);
  return 0;
}

/** A server that has just started needs a moment to open its journal and to report its address. */
async function runningServer(flags: ConsoleFlags, runtime: RuntimeContext): Promise<string> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    try {
      return await findServer(flags, runtime);
    } catch (cause) {
      if (cause instanceof UsageError || waitedMs >= START_MS) throw cause;
    }
    await setTimeout(POLL_MS);
  }
}

async function findServer(flags: ConsoleFlags, runtime: RuntimeContext): Promise<string> {
  const store = await openAuditStore(flags, runtime);
  let servers: readonly ConsoleServer[];
  try {
    servers = await consoleServers(store);
  } finally {
    await store.close();
  }
  const [newest] = servers;
  if (newest) return newest.url;
  throw new HostError(
    'No running server that shares this journal serves the console. Start one: toolkeel up. Or name it: toolkeel console --url http://127.0.0.1:7411',
  );
}

function baseOf(text: string): string {
  try {
    const { protocol, origin } = new URL(text);
    if (protocol === 'http:' || protocol === 'https:') return origin;
  } catch {
    // Refused below.
  }
  throw new UsageError('--url must be the address of a server, such as http://127.0.0.1:7411');
}

interface CreatedLink {
  readonly link: string;
  readonly expires_at: string;
}

async function requestLink(
  url: string,
  token: string,
  name: string | undefined,
): Promise<CreatedLink> {
  let response: Response;
  try {
    response = await fetch(`${url}/api/session/links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(name === undefined ? {} : { name }),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (cause) {
    throw new HostError(`The server at ${url} does not respond. Is it running?`, { cause });
  }
  const body = (await response.json().catch(() => undefined)) as
    | (Partial<CreatedLink> & { readonly error?: { readonly message?: string } })
    | undefined;
  const { link, expires_at, error } = body ?? {};
  if (response.ok && link !== undefined && expires_at !== undefined) return { link, expires_at };
  const reason = error?.message ?? `status ${response.status}`;
  throw new HostError(`The server at ${url} refused to create a link: ${reason}`);
}
