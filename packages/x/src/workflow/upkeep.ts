import { randomUUID } from 'node:crypto';
import type { PackLog } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { openWorkflow } from './access.js';
import { storeEnds } from './drafts.js';
import { resumeThreads, submitStored } from './handover.js';
import { syncPosts } from './history.js';
import { measurePosts } from './measure.js';

const FIRST_MS = 10_000;
const EVERY_MS = 60_000;
const TIMEOUT_MS = 30_000;

/**
 * Runs the background work of the workflow profile until the returned function is called: hands stored
 * drafts to the journal, records posts before the journal deletes their operations, and measures them.
 * Several processes may run it at once.
 */
export function startUpkeep(client: Client, log: PackLog): () => void {
  const { clock, session } = client;
  if (!client.workflow) return () => undefined;
  let isStopped = false;
  let timer: unknown;
  const schedule = (delayMs: number): void => {
    if (isStopped) return;
    timer = clock.setTimer(delayMs, () => void runOnce());
    if (timer instanceof Object && 'unref' in timer) (timer as NodeJS.Timeout).unref();
  };
  const runOnce = async (): Promise<void> => {
    if (session.user?.exists()) {
      await maintain(client).catch((cause: unknown) => log('warn', 'upkeep_failed', { cause }));
    }
    schedule(EVERY_MS);
  };
  schedule(FIRST_MS);
  return () => {
    isStopped = true;
    clock.clearTimer(timer);
  };
}

/** One pass of the background work. */
export async function maintain(client: Client): Promise<void> {
  const { signal } = new AbortController();
  const call = {
    signal,
    deadline: client.clock.now() + TIMEOUT_MS,
    correlationId: randomUUID(),
    noteRetry: () => undefined,
  };
  const workflow = await openWorkflow(client, call);
  await submitStored(client, workflow, call);
  await resumeThreads(client, workflow, call);
  await storeEnds(client, workflow);
  await syncPosts(client, workflow.account, call);
  await measurePosts(client, workflow.account, call);
}
