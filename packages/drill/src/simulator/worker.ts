import { parentPort } from 'node:worker_threads';
import { runJob, type Job } from './jobs.js';

/** Runs one job at a time: the pool sends the next job after it received this result. */
parentPort?.on('message', (job: Job) => {
  void runJob(job).then(
    (result) => parentPort?.postMessage({ result }, []),
    (error: unknown) => parentPort?.postMessage({ error }, []),
  );
});
