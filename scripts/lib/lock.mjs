import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheDir } from './paths.mjs';

/**
 * One process of this clone at a time: two installs at once would delete each other's files. A lock whose
 * owner is gone is taken over.
 *
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export const exclusively = async (name, work) => {
  const path = join(cacheDir, `${name}.lock`);
  mkdirSync(cacheDir, { recursive: true });
  while (!claim(path)) {
    if (ownerIsGone(path)) rmSync(path, { force: true });
    else await sleep(250);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
};

/** @param {string} path */
const claim = (path) => {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
};

/** @param {string} path */
const ownerIsGone = (path) => {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    if (pid > 0) process.kill(pid, 0); // signal 0 only asks whether the process exists
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
