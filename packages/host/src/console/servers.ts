import type { JournalStore } from '@toolkeel/journal';
import { knownProcess } from './process-view.js';

/** A live process that serves the console. */
export interface ConsoleServer {
  readonly url: string;
  readonly name: string;
  readonly pid: number;
}

/** The live processes that share the journal and serve the console, the newest first. */
export async function consoleServers(
  store: Pick<JournalStore, 'now' | 'processes'>,
): Promise<readonly ConsoleServer[]> {
  const now = await store.now();
  return (await store.processes())
    .map((process) => knownProcess(process, now))
    .filter(({ state, info }) => state === 'live' && info.console)
    .toSorted((one, other) => other.startedAt - one.startedAt)
    .flatMap(({ info: { url, name, pid } }) => (url === undefined ? [] : [{ url, name, pid }]));
}
