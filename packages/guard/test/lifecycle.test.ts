import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, isAlive, newChaos, newFolder, type Chaos } from './support/chaos.js';
import { guardErrorIn, openGuard, textIn } from './support/guarded.js';

afterAll(cleanUp);

const paths = { face: 'stdio', upstream: 'stdio', revision: '2025-11-25' } as const;
const quick = { policy: { idleTimeoutMs: 1000, maxRetries: 0 } };

const namesIn = (result: unknown): string[] =>
  (result as { tools: { name: string }[] }).tools.map(({ name }) => name);

describe('the start of a server', () => {
  it('may take long, and may fail at first', async () => {
    const chaos = newChaos();
    const flags = ['--start-ms', '700', '--die-first', '2'];
    const guard = await openGuard({ ...paths, chaos, flags });
    expect(textIn(await guard.call('read', { key: 'a' }))).toBe('done a');
    expect(chaos.starts()).toHaveLength(3);
    await guard.close();
  });

  it('that never succeeds is reported, also to initialize', async () => {
    const chaos = newChaos();
    const flags = ['--die-first', '1000'];
    const settings = { policy: { maxRetries: 0 } };
    const guard = await openGuard({ ...paths, chaos, flags, settings });
    const list = await guard.request('tools/list');
    expect(list.error?.message).toMatch(/exited with code 1/);
    // Without a list of tools every call counts as a mutation.
    for (const tool of ['read', 'write']) {
      const error = guardErrorIn(await guard.call(tool, { key: tool }));
      expect(error).toMatchObject({ retryable: true, outcome: 'not_executed' });
    }
    expect(guard.inbox.problems).toEqual([]);
    await guard.close();
  });

  it('that shows other tools after a restart is noticed', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ ...paths, chaos, flags: ['--changed-after-restart'] });
    expect(namesIn((await guard.request('tools/list')).result)).toContain('only_first');
    await guard.call('read', { key: 'a', fault: 'crash', times: 1 });
    await guard.inbox.notified('notifications/tools/list_changed');
    expect(namesIn((await guard.request('tools/list')).result)).toContain('only_later');
    expect(textIn(await guard.call('only_later', { key: 'b' }))).toBe('done b');
    expect((await guard.call('only_first', { key: 'c' })).error?.code).toBe(-32_602);
    await guard.close();
  });
});

describe('a server that stops responding', () => {
  it('is ended and started again', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ ...paths, chaos, settings: quick });
    const frozen = await guard.call('read', { key: 'a', fault: 'freeze', times: 1 });
    expect(guardErrorIn(frozen).code).toBe('timeout');
    const [first] = chaos.starts();
    await expect.poll(() => isAlive(first?.pid ?? 0)).toBe(false);
    expect(textIn(await guard.call('read', { key: 'b' }))).toBe('done b');
    await guard.close();
  });

  it('and is killed with a full pipe loses no call and does not block the client', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ ...paths, chaos });
    const frozen = guard.call('read', { key: 'frozen', fault: 'freeze', times: 1 });
    await expect.poll(() => chaos.calls('frozen').length).toBe(1);
    const padding = 'x'.repeat(50_000);
    const calls = Array.from({ length: 20 }, (_, n) =>
      guard.call('read', { key: `${n}${padding}` }),
    );
    await sleep(100); // The pipe fills up; without this the test still holds, but shows less.
    process.kill(chaos.starts()[0]?.pid ?? 0, 'SIGKILL');
    expect(textIn(await frozen)).toBe('done frozen');
    const texts = (await Promise.all(calls)).map(textIn);
    expect(texts).toEqual(Array.from({ length: 20 }, (_, n) => `done ${n}${padding}`));
    expect(guard.inbox.problems).toEqual([]);
    await guard.close();
  });
});

/** A server that does not end with its input, as the child of a shell. */
const behindShell = (chaos: Chaos) => {
  const [command, ...args] = chaos.command('--ignore-end');
  return { command: 'sh', args: ['-c', '"$0" "$@"; exit', command, ...args] };
};
const parentOf = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));

describe('the end', () => {
  it('of the client ends a server that ignores the end of its input and SIGTERM', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ ...paths, chaos, flags: ['--ignore-end'] });
    const [server] = chaos.starts();
    await guard.close();
    expect(isAlive(server?.pid ?? 0)).toBe(false);
  });

  it('of the client ends a server behind a shell', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ ...paths, chaos, settings: behindShell(chaos) });
    const [server] = chaos.starts();
    await guard.close();
    await expect.poll(() => isAlive(server?.pid ?? 0)).toBe(false);
  });

  it('of a wrapper that was killed ends the server behind it, and another is started', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ ...paths, chaos, settings: behindShell(chaos) });
    const [server] = chaos.starts();
    process.kill(parentOf(server?.pid ?? 0), 'SIGKILL');
    await expect.poll(() => isAlive(server?.pid ?? 0), { timeout: 60_000 }).toBe(false);
    expect(textIn(await guard.call('read', { key: 'a' }))).toBe('done a');
    expect(chaos.starts()).toHaveLength(2);
    await guard.close();
  });

  it('of a guard and a wrapper that were killed leaves a server that the next start ends', async () => {
    const [chaos, dataDir] = [newChaos(), newFolder()];
    const options = { ...paths, chaos, dataDir, settings: behindShell(chaos) };
    const killed = await openGuard(options);
    const [server] = chaos.starts();
    await killed.kill('SIGKILL');
    process.kill(parentOf(server?.pid ?? 0), 'SIGKILL');
    expect(isAlive(server?.pid ?? 0)).toBe(true);
    const next = await openGuard(options);
    await expect.poll(() => isAlive(server?.pid ?? 0), { timeout: 60_000 }).toBe(false);
    await next.close();
  });

  it('of a guard that was killed leaves a server that the next start ends', async () => {
    const [chaos, dataDir] = [newChaos(), newFolder()];
    const options = { ...paths, chaos, dataDir, flags: ['--ignore-end'] };
    const killed = await openGuard(options);
    const [server] = chaos.starts();
    await killed.kill('SIGKILL');
    expect(isAlive(server?.pid ?? 0)).toBe(true);
    const next = await openGuard(options);
    await expect.poll(() => isAlive(server?.pid ?? 0)).toBe(false);
    expect(textIn(await next.call('read', { key: 'a' }))).toBe('done a');
    await next.close();
  });

  it('of a guard that was killed during a mutation leaves its outcome unknown to the next', async () => {
    const [chaos, dataDir] = [newChaos(), newFolder()];
    const killed = await openGuard({ ...paths, chaos, dataDir });
    void killed.call('write', { key: 'a', fault: 'hang', times: 1 });
    await expect.poll(() => chaos.effects('a').length).toBe(1);
    await killed.kill('SIGKILL');
    const next = await openGuard({ ...paths, chaos, dataDir });
    const again = await next.call('write', { key: 'a', fault: 'hang', times: 1 });
    expect(guardErrorIn(again)).toMatchObject({ code: 'outcome_unknown', outcome: 'unknown' });
    expect(chaos.effects('a')).toHaveLength(1);
    await next.close();
  });

  it('of a guard that was killed keeps an unknown outcome apart from an equal act that was answered', async () => {
    const [chaos, dataDir] = [newChaos(), newFolder()];
    const args = { key: 'a', fault: 'hang', times: 1 };
    const killed = await openGuard({ ...paths, chaos, dataDir });
    void killed.call('write', args);
    await expect.poll(() => chaos.effects('a').length).toBe(1);
    expect(textIn(await killed.call('write', args))).toBe('done a');
    await killed.kill('SIGKILL');
    const next = await openGuard({ ...paths, chaos, dataDir });
    // The delivery of the other one may not have been recorded.
    await next.call('write', args);
    const again = await next.call('write', args);
    expect(guardErrorIn(again)).toMatchObject({ code: 'outcome_unknown', outcome: 'unknown' });
    expect(chaos.effects('a')).toHaveLength(2);
    await next.close();
  });
});

describe('a repeat', () => {
  it('of a mutation that was cancelled gets the result of the first', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ ...paths, chaos });
    const args = { key: 'a', fault: 'slow', ms: 300 };
    void guard.call('write', args, { id: 'first' });
    await expect.poll(() => chaos.calls('a').length).toBe(1);
    guard.inbox.forget('first');
    await guard.notify('notifications/cancelled', { requestId: 'first' });
    const { result } = await guard.call('write', args);
    const texts = result?.content?.map(({ text }) => text);
    expect(texts?.[0]).toMatch(/^Not executed again/);
    expect(texts?.[1]).toBe('done a');
    expect(chaos.effects('a')).toHaveLength(1);
    expect(guard.inbox.problems).toEqual([]);
    await guard.close();
  });

  it('of a mutation whose connection was lost gets the result of the first from another guard', async () => {
    const [chaos, dataDir] = [newChaos(), newFolder()];
    const args = { key: 'a', fault: 'slow', ms: 300 };
    const first = await openGuard({ ...paths, chaos, dataDir });
    void first.call('write', args);
    await expect.poll(() => chaos.effects('a').length).toBe(1);
    await first.close();
    const second = await openGuard({ ...paths, chaos, dataDir });
    const { result } = await second.call('write', args);
    expect(result?.content?.map(({ text }) => text).join()).toMatch(/Not executed again.*done a/s);
    expect(chaos.effects('a')).toHaveLength(1);
    await second.close();
  });

  it('of a delivered mutation, or beside it, is another mutation', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ ...paths, chaos });
    const both = [1, 2].map(() => guard.call('write', { key: 'a', fault: 'slow', ms: 50 }));
    expect((await Promise.all(both)).map(textIn)).toEqual(['done a', 'done a']);
    expect(textIn(await guard.call('write', { key: 'a', fault: 'slow', ms: 50 }))).toBe('done a');
    expect(chaos.effects('a')).toHaveLength(3);
    await guard.close();
  });
});

describe('an answer', () => {
  it('that is too large is refused, and the next one is not affected', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ ...paths, chaos });
    const large = await guard.call('read', { key: 'a', fault: 'oversized', bytes: 30_000_000 });
    expect(guardErrorIn(large).code).toBe('response_too_large');
    expect(textIn(await guard.call('read', { key: 'b' }))).toBe('done b');
    expect(guard.inbox.problems).toEqual([]);
    await guard.close();
  });

  it('shows no secret of the environment of the server, nor does the log', async () => {
    const chaos = newChaos();
    const token = 'tk-4f9a7c1e8b2d6035';
    const guard = await openGuard({ ...paths, chaos, env: { CHAOS_TOKEN: token } });
    const frame = await guard.call('read', { key: 'a', fault: 'leak' });
    expect(frame.error?.message).toMatch(/^the token .* is invalid$/);
    expect(JSON.stringify(frame)).not.toContain(token);
    await expect.poll(() => guard.stderr()).toContain('upstream_stderr');
    await guard.close();
    expect(guard.stderr()).not.toContain(token);
  });
});

it('arguments that the schema of the server refuses are not sent', async () => {
  const chaos = newChaos();
  const guard = await openGuard({ ...paths, chaos });
  const refused = [{}, { key: 1 }, { key: 'a', other: 1 }, { key: 'a', fault: 'no such fault' }];
  for (const args of refused)
    expect(guardErrorIn(await guard.call('write', args)).code).toBe('validation_error');
  expect(chaos.calls()).toEqual([]);
  await guard.close();
});
