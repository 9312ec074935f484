import type { LogEntry, StacSandboxOptions } from '@toolkeel/sandbox';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { DrillError } from '../drill-error.js';

/** One upstream, as far as the drill commands it. */
export interface Upstream {
  readonly url: string;
  /** Empties the log and begins the draws of a seed. */
  readonly restart: (seed: number) => Promise<void>;
  /** What arrived, in order; with an id only what came after that entry. */
  readonly log: (after?: number) => Promise<readonly LogEntry[]>;
}

export interface Upstreams {
  readonly all: readonly Upstream[];
  readonly close: () => Promise<void>;
}

interface Addresses {
  readonly url: string;
  readonly controlUrl: string;
}

/** Starts upstreams in a thread. They are commanded over HTTP, as anybody could. */
export async function startUpstreams(
  options: readonly StacSandboxOptions[],
  thread = new URL('./upstream-thread.js', import.meta.url),
): Promise<Upstreams> {
  const worker = new Worker(thread, { workerData: options });
  const [addresses] = (await once(worker, 'message')) as [readonly Addresses[]];
  return {
    all: addresses.map(commanded),
    close: async () => void (await worker.terminate()),
  };
}

function commanded({ url, controlUrl }: Addresses): Upstream {
  const command = async (path: string, init?: RequestInit): Promise<Response> => {
    const answer = await fetch(controlUrl + path, init);
    if (!answer.ok) throw new DrillError(`the upstream refused ${path}: ${await answer.text()}`);
    return answer;
  };
  return {
    url,
    restart: async (seed) =>
      void (await command('/restart', { method: 'POST', body: JSON.stringify({ seed }) })),
    log: async (after = 0) => {
      const answer = await command(`/log?after=${after}`);
      const { entries } = (await answer.json()) as { readonly entries: readonly LogEntry[] };
      return entries;
    },
  };
}
