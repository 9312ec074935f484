import { startStacSandbox, type StacSandboxOptions } from '@toolkeel/sandbox';
import { parentPort, workerData } from 'node:worker_threads';

/** Upstreams run in a worker thread, so that their work does not delay the measuring thread. */
const sandboxes = await Promise.all(
  (workerData as readonly StacSandboxOptions[]).map((options) => startStacSandbox(options)),
);
parentPort?.postMessage(
  sandboxes.map(({ url, control }) => ({ url, controlUrl: control.url })),
  [],
);
