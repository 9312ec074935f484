import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { readJson } from './json.mjs';
import { inRoot, root } from './paths.mjs';

/**
 * @typedef {{ file: string, args: string[] }} Command
 * @typedef {{ code: number, output: string }} Result stdout and stderr combined, as on a terminal
 */

/**
 * The command of an installed tool, without the platform-dependent shims of node_modules/.bin.
 *
 * @param {string} packageName
 * @param {string[]} args
 * @param {string} [binName]
 * @returns {Command}
 */
export const tool = (packageName, args, binName = packageName) => {
  const dir = inRoot('node_modules', packageName);
  /** @type {import('./json.mjs').Manifest} */
  const { bin } = readJson(join(dir, 'package.json'));
  const path = typeof bin === 'string' ? bin : bin?.[binName];
  if (!path) throw new Error(`${packageName} has no command called ${binName}`);
  return node([join(dir, path), ...args]);
};

/**
 * @param {string[]} args
 * @returns {Command}
 */
export const node = (args) => ({ file: process.execPath, args });

/**
 * The npm that started this process, so that a run never mixes two npm versions.
 *
 * @param {string[]} args
 * @returns {Command}
 */
export const npm = (args) => {
  const running = process.env['npm_execpath'];
  if (running && /npm-cli\.c?js$/.test(running)) return node([running, ...args]);
  if (process.platform === 'win32') return { file: 'cmd.exe', args: ['/d', '/c', 'npm', ...args] };
  return { file: 'npm', args };
};

/**
 * Runs a command and collects its output.
 *
 * @param {Command} command
 * @param {{ cwd?: string }} [options]
 * @returns {Promise<Result & { stdout: string }>}
 */
export const capture = ({ file, args }, { cwd = root } = {}) =>
  new Promise((resolve) => {
    const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const release = forwardSignals(child);
    let output = '';
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => {
      release();
      resolve({ code: 1, output: `${file}: ${error.message}`, stdout });
    });
    child.on('close', (code) => {
      release();
      resolve({ code: code ?? 1, output: output.trimEnd(), stdout });
    });
  });

/**
 * Runs a command on this terminal and returns its exit code.
 *
 * @param {Command} command
 * @param {{ cwd?: string, endsWithParent?: boolean }} [options] `endsWithParent`: terminate the command when the
 *   parent of this process ends
 * @returns {Promise<number>}
 */
export const show = ({ file, args }, { cwd = root, endsWithParent = false } = {}) =>
  new Promise((resolve) => {
    const child = spawn(file, args, { cwd, stdio: 'inherit' });
    const releases = [forwardSignals(child), ...(endsWithParent ? [watchParent(child)] : [])];
    const release = () => releases.forEach((each) => each());
    child.on('error', (error) => {
      release();
      process.stderr.write(`${file}: ${error.message}\n`);
      resolve(1);
    });
    child.on('close', (code, signal) => {
      release();
      resolve(code ?? (signal === 'SIGINT' ? 130 : 143));
    });
  });

/**
 * Forwards termination signals to the child process.
 *
 * @param {import('node:child_process').ChildProcess} child
 */
const forwardSignals = (child) => {
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const forward = (/** @type {NodeJS.Signals} */ signal) => void child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  return () => {
    for (const signal of signals) process.off(signal, forward);
  };
};

const PARENT_POLL_MS = 250;

/**
 * Terminates the child process when the parent of this one has ended. A signal that is sent to npm alone ends
 * npm and its shell; the shell does not forward it.
 *
 * @param {import('node:child_process').ChildProcess} child
 */
const watchParent = (child) => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    child.kill('SIGTERM');
  }, PARENT_POLL_MS);
  return () => clearInterval(timer);
};
