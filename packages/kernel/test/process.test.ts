import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Runs a program that imports the built kernel, as a user's would. */
function run(program: string): { status: number | null; stdout: string; stderr: string } {
  const entry = new URL('../dist/index.js', import.meta.url).href;
  const source = `import * as kernel from ${JSON.stringify(entry)};\n${program}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
    timeout: 50_000,
  });
}

describe('a program with the kernel', () => {
  it('exits after its last call, without waiting for the deadline', () => {
    const { status, stdout } = run(`
      const call = kernel.withResilience(async () => 'ok', kernel.presets.llm, { effect: 'read' });
      console.log(await call());
    `);
    expect([status, stdout]).toEqual([0, 'ok\n']);
  });

  it('is kept alive by a call until its deadline', () => {
    const { status, stdout, stderr } = run(`
      const { compose, deadline } = kernel;
      const call = compose([deadline(150)], { effect: 'read' }).wrap(() => new Promise(() => {}));
      const outcome = await call.outcome();
      console.log(outcome.fault.kind, outcome.fault.clock);
    `);
    expect([status, stdout, stderr]).toEqual([0, 'timeout deadline\n', '']);
  });

  it('gets no unhandled rejection from a late callee', () => {
    const { status, stderr } = run(`
      const { compose, attemptTimeout, retry } = kernel;
      const call = compose([attemptTimeout(20), retry({ maxRetries: 0 })], { effect: 'read' }).wrap(
        () => new Promise((_, reject) => setTimeout(() => reject(new Error('too late')), 80)),
      );
      await call.outcome();
      await new Promise((resolve) => setTimeout(resolve, 150));
    `);
    expect([status, stderr]).toEqual([0, '']);
  });

  it('gets no listener warning for a thousand calls with one signal', () => {
    const { status, stderr } = run(`
      const { compose, deadline } = kernel;
      const { signal } = new AbortController();
      const call = compose([deadline(50)], { effect: 'read' }).wrap(() => new Promise(() => {}));
      await Promise.all(Array.from({ length: 1000 }, () => call.outcome(undefined, { signal })));
    `);
    expect([status, stderr]).toEqual([0, '']);
  });
});
