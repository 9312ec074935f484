import { startStacSandbox, type StacSandboxOptions } from '@toolkeel/sandbox';
import { parentPort, workerData } from 'node:worker_threads';

/** Upstreams in a thread of their own: what they compute must not hold up who measures. */
const sandboxes = await Promise.all(
  (workerData as readonly StacSandboxOptions[]).map((options) => startStacSandbox(options)),
);
parentPort?.postMessage(
  sandboxes.map(({ url, control }) => ({ url, controlUrl: control.url })),
  [],
);
