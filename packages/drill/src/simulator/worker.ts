import { parentPort } from 'node:worker_threads';
import { runJob, type Job } from './jobs.js';

/** One job at a time: the pool sends the next when it has this one's result. */
parentPort?.on('message', (job: Job) => {
  void runJob(job).then(
    (result) => parentPort?.postMessage({ result }, []),
    (error: unknown) => parentPort?.postMessage({ error }, []),
  );
});
