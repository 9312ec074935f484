import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { RuntimeContext } from './runtime.js';

interface FakeRuntime extends RuntimeContext {
  readonly output: () => string;
  readonly errorOutput: () => string;
}

/** A runtime with captured output. */
export function fakeRuntime(given: Partial<RuntimeContext> = {}): FakeRuntime {
  let [out, err] = ['', ''];
  return {
    env: {},
    cwd: '/nowhere',
    stdout: { write: (text) => void (out += text), colours: false },
    stderr: { write: (text) => void (err += text), colours: false },
    isInteractive: false,
    confirm: () => Promise.reject(new Error('prompts are not expected')),
    ...given,
    output: () => out,
    errorOutput: () => err,
  };
}

/** An empty directory for each test of a file. */
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
