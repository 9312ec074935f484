import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheDir } from './paths.mjs';

/**
 * Runs work in one process of this clone at a time: concurrent installs would delete each other's files. The
 * lock of a process that has exited is taken over.
 *
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export const withLock = async (name, work) => {
  const path = join(cacheDir, `${name}.lock`);
  mkdirSync(cacheDir, { recursive: true });
  while (!acquire(path)) {
    if (ownerHasExited(path)) rmSync(path, { force: true });
    else await sleep(250);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
};

/** @param {string} path */
const acquire = (path) => {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
};

/** @param {string} path */
const ownerHasExited = (path) => {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    if (pid > 0) process.kill(pid, 0); // signal 0 only tests whether the process exists
    return false;
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
};

/**
 * @param {unknown} error
 * @param {string} code
 */
const hasCode = (error, code) => error instanceof Error && 'code' in error && error.code === code;
