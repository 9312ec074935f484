import type { RuntimeContext } from './runtime.js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

interface Watched extends RuntimeContext {
  readonly said: () => string;
  readonly complained: () => string;
}

/** A place of its own for a command, where everything that it says can be read. */
export function fakeRuntime(given: Partial<RuntimeContext> = {}): Watched {
  let [out, err] = ['', ''];
  return {
    env: {},
    cwd: '/nowhere',
    stdout: { write: (text) => void (out += text), colours: false },
    stderr: { write: (text) => void (err += text), colours: false },
    isInteractive: false,
    confirm: () => Promise.reject(new Error('there is nobody to ask')),
    ...given,
    said: () => out,
    complained: () => err,
  };
}

/** An empty folder for each test of a file. */
export function useTempDir(): () => string {
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-cli-'));
  });
  afterEach(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return () => dir;
}
