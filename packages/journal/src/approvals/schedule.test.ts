import { describe, expect, it } from 'vitest';
import { keyFor, rig, type RigOptions } from '../fixtures/rig.fixture.js';
import type { Decide } from '../options.js';
import { memoryStore } from '../store/memory/store.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const post = { text: 'later', idempotency_key: keyFor('later') };

/** Processes, and a call that is scheduled in ten minutes with an hour of grace. */
function scheduledRig(options: RigOptions = {}) {
  const world = rig(options);
  const at = world.clock.wallNow() + 10 * MINUTE;
  return { ...world, at, schedule: { at, expiresAt: at + HOUR } };
}

const requireApproval: Decide = (_, { approved }) =>
  approved
    ? { kind: 'allow', limits: [] }
    : { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: HOUR };

describe('a scheduled call', () => {
  it('is executed at its time, once, by one of two live processes', async () => {
    const { clock, start, upstream, schedule, at } = scheduledRig();
    const [one, two] = [start(), start()];
    one.journal.start();
    two.journal.start();
    const { error } = await clock.run(one.call('post', post, { schedule }));
    expect(error).toMatchObject({
      code: 'idempotency_in_flight',
      details: { state: 'scheduled' },
      retry_after_ms: 10 * MINUTE,
    });
    const id = error?.operation_id ?? '';
    expect(await one.journal.approvals.list()).toEqual([]);
    expect(await one.journal.counts()).toEqual({ unknown: 0, awaitingApproval: 0 });
    await clock.advance(9 * MINUTE);
    // Repeating it changes nothing.
    expect((await clock.run(two.call('post', post, { schedule }))).error?.operation_id).toBe(id);
    expect((await clock.run(two.call('post', post))).error?.operation_id).toBe(id);
    expect(upstream.effects).toEqual([]);
    await clock.advance(5 * MINUTE);
    expect(upstream.effects).toMatchObject([{ kind: 'post', by: id }]);
    expect(upstream.effects[0]!.at).toBeGreaterThanOrEqual(at);
    expect(await clock.run(two.call('post', post))).toMatchObject({ success: true });
    expect(upstream.effects).toHaveLength(1);
  });

  it('is not executed twice if its process is killed at any step', async () => {
    const counts = new Set<number>();
    for (let after = 0; after <= 80; after += 2) {
      const { clock, start, upstream, schedule } = scheduledRig();
      const first = start();
      first.journal.start();
      await clock.run(first.call('post', post, { schedule }));
      await clock.advance(10 * MINUTE + after - 5);
      first.kill();
      const second = start();
      second.journal.start();
      await clock.advance(30 * MINUTE);
      counts.add(upstream.effects.length);
      const { error, success } = await clock.run(second.call('post', post));
      // Executed, or sent by the killed process with an unknown outcome; never lost.
      expect(success || error?.code === 'outcome_unknown').toBe(true);
      expect(upstream.requests).toBe(1);
    }
    expect(Math.max(...counts)).toBe(1);
  });

  it('is executed within its grace after a stop, and reported as missed later', async () => {
    for (const [stopped, expected] of [
      [30 * MINUTE, 1],
      [2 * HOUR, 0],
    ] as const) {
      const { clock, start, upstream, schedule } = scheduledRig();
      const first = start();
      const { error } = await clock.run(first.call('post', post, { schedule }));
      first.kill();
      await clock.advance(10 * MINUTE + stopped);
      const second = start();
      second.journal.start();
      await clock.advance(MINUTE);
      expect(upstream.effects).toHaveLength(expected);
      const shown = await second.journal.operations.show(error?.operation_id ?? '');
      expect(shown?.state).toBe(expected === 1 ? 'succeeded' : 'expired');
    }
  });

  it('is executed once if the clock is set back and forth', async () => {
    let step = 0;
    const { clock, start, upstream, at } = scheduledRig();
    const store = memoryStore({ now: () => clock.wallNow() + step });
    const server = start({ through: () => store });
    server.journal.start();
    const schedule = { at, expiresAt: at + 12 * HOUR };
    await clock.run(server.call('post', post, { schedule }));
    for (const next of [15 * MINUTE, -HOUR, 20 * MINUTE, 0]) {
      step = next;
      await clock.advance(6 * MINUTE);
    }
    await clock.advance(HOUR);
    expect(upstream.effects).toHaveLength(1);
  });

  it('waits for an operator and for its time, if the policy requires approval', async () => {
    for (const order of ['approved before its time', 'approved after its time']) {
      const { clock, start, upstream, schedule } = scheduledRig({ decide: requireApproval });
      const server = start();
      server.journal.start();
      const { error } = await clock.run(server.call('post', post, { schedule }));
      expect(error?.code).toBe('approval_required');
      const id = error?.operation_id ?? '';
      const hash = (await server.journal.approvals.show(id))!.approval!.hash;
      if (order === 'approved after its time') await clock.advance(20 * MINUTE);
      expect(upstream.effects).toEqual([]);
      await server.journal.approvals.approve(id, { hash, by: 'ana' });
      if (order === 'approved before its time') {
        await clock.advance(5 * MINUTE);
        expect(upstream.effects).toEqual([]);
      }
      await clock.advance(10 * MINUTE);
      expect(upstream.effects).toHaveLength(1);
    }
  });

  it('asks an operator if the rules have become stricter meanwhile', async () => {
    let isStrict = false;
    const { clock, start, upstream, schedule } = scheduledRig({
      decide: (call, context) =>
        isStrict ? requireApproval(call, context) : { kind: 'allow', limits: [] },
    });
    const server = start();
    server.journal.start();
    await clock.run(server.call('post', post, { schedule }));
    isStrict = true;
    await clock.advance(11 * MINUTE);
    expect(upstream.effects).toEqual([]);
    expect(await server.journal.approvals.list()).toMatchObject([
      {
        tool: 'post',
        approval: {
          scheduled_for: new Date(schedule.at).toISOString(),
          expires_at: new Date(schedule.expiresAt).toISOString(),
        },
      },
    ]);
  });

  it('is decided on behalf of the same calls when it is executed, by another process too', async () => {
    const seen: unknown[] = [];
    const { clock, start, upstream, schedule } = scheduledRig({
      decide: (_, { onBehalfOf }) => {
        seen.push(onBehalfOf);
        return { kind: 'allow', limits: [] };
      },
    });
    const onBehalfOf = [{ tool: 'compose', args: { text: 'private' } }];
    const first = start();
    const { error } = await clock.run(first.call('post', post, { schedule, onBehalfOf }));
    const stored = await first.journal.operations.show(error?.operation_id ?? '');
    expect(JSON.stringify(stored)).not.toContain('private');
    first.kill();
    start().journal.start();
    await clock.advance(15 * MINUTE);
    expect(upstream.effects).toHaveLength(1);
    expect(seen).toEqual([onBehalfOf, onBehalfOf]);
  });

  it('can be withdrawn before it is executed, and requested again', async () => {
    const { clock, start, upstream, schedule } = scheduledRig();
    const server = start();
    server.journal.start();
    const { error } = await clock.run(server.call('post', post, { schedule }));
    const id = error?.operation_id ?? '';
    expect(await server.journal.operations.withdraw(id, 'agent')).toBe(true);
    expect(await server.journal.operations.withdraw(id, 'agent')).toBe(false);
    await clock.advance(HOUR);
    expect(upstream.effects).toEqual([]);
    expect(await server.journal.operations.show(id)).toMatchObject({
      state: 'denied',
      code: 'cancelled',
    });
    expect(await clock.run(server.call('post', post))).toMatchObject({ success: true });
    expect(upstream.effects).toHaveLength(1);
    const done = await clock.run(server.call('post', post, { delivered: true }));
    const executed = done.meta.idempotency?.replayed;
    expect(executed).toBe(true);
  });
});
