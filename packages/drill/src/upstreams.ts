import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { DrillError } from './cli/command-line.js';

interface Addresses {
  readonly url: string;
  readonly controlUrl: string;
}

/** A sandbox, and requests to its control endpoint. */
export interface ControlledUpstream {
  readonly url: string;
  readonly get: <T>(path: string) => Promise<T>;
  readonly send: (method: 'PUT' | 'POST', path: string, body: object) => Promise<void>;
}

/** Starts sandboxes in a worker thread, so that their work does not delay this one. */
export async function startUpstreams(
  thread: URL | string,
  workerData: unknown,
): Promise<{ readonly all: ControlledUpstream[]; readonly close: () => Promise<void> }> {
  const worker = new Worker(thread, { workerData });
  const [addresses] = (await once(worker, 'message')) as [readonly Addresses[]];
  return {
    all: addresses.map(controlled),
    close: async () => void (await worker.terminate()),
  };
}

function controlled({ url, controlUrl }: Addresses): ControlledUpstream {
  const control = async (path: string, init?: RequestInit): Promise<Response> => {
    const answer = await fetch(controlUrl + path, init);
    if (!answer.ok) throw new DrillError(`the upstream refused ${path}: ${await answer.text()}`);
    return answer;
  };
  return {
    url,
    get: async <T>(path: string) => (await (await control(path)).json()) as T,
    send: async (method, path, body) =>
      void (await control(path, { method, body: JSON.stringify(body) })),
  };
}
