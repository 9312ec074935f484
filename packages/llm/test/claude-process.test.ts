import { describe, expect, it } from 'vitest';
import { runningChildren } from '../src/claude/children.js';
import { ask, claudeOf, errorOf, expectNoChildren, sandboxOf } from './support/rig.js';

// The stand-in only: the CLI itself cannot be told to misbehave.
describe('a misbehaving CLI', () => {
  it.for([
    ['cli-exit-mid-turn', 'incomplete_stream', /exit code 0/],
    ['cli-crash', 'process_exited', /exit code 3/],
  ] as const)('%s is an error with the partial text', async ([kind, code, message]) => {
    const sandbox = await sandboxOf({ faults: [{ kind, routes: ['cli'] }] });
    const error = await errorOf(claudeOf(sandbox).complete(ask()));
    expect(error).toMatchObject({ code, attempts: 3, retriable: true, phase: 'stream' });
    expect(error.message).toMatch(message);
    expect(error.partialText).toMatch(/^You asked/);
    await expectNoChildren();
  });

  it('lines that are not JSON do no harm', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'cli-garbage', routes: ['cli'] }] });
    expect(await claudeOf(sandbox).complete(ask())).toMatchObject({ finish: 'stop', attempts: 1 });
  });

  it('one that does not start is ended by the connect clock', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'cli-no-start', routes: ['cli'] }] });
    const options = { timeouts: { connectMs: 500 }, policy: { maxRetries: 0 } };
    const error = await errorOf(claudeOf(sandbox, options).complete(ask()));
    expect(error).toMatchObject({ clock: 'connect', phase: 'connect' });
    await expectNoChildren();
  });

  it('one that ignores the end of its input and SIGTERM is killed', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'cli-deaf', routes: ['cli'] }] });
    const options = { timeouts: { contentIdleMs: 300 }, policy: { maxRetries: 0 } };
    const error = await errorOf(claudeOf(sandbox, options).complete(ask()));
    expect(error).toMatchObject({ clock: 'content_idle', phase: 'stream' });
    // The caller has the answer while the process still runs.
    expect(runningChildren()).toHaveLength(1);
    await expectNoChildren();
  });

  it('no more of them run than allowed, and waiting has an end', async () => {
    const sandbox = await sandboxOf({
      faults: [{ kind: 'cli-no-start', routes: ['cli'], times: 1 }],
    });
    const options = { maxProcesses: 1, maxQueue: 1, policy: { maxRetries: 0 } };
    const model = claudeOf(sandbox, { ...options, timeouts: { connectMs: 1_000 } });
    const results = await Promise.allSettled([1, 2, 3].map(() => model.complete(ask())));
    const outcomes = results.map((result) =>
      result.status === 'fulfilled' ? 'ok' : (result.reason as { code: string }).code,
    );
    expect(outcomes).toEqual(['timeout', 'ok', 'busy']);
    await expectNoChildren();
  });
});
