import { describe, expect, it } from 'vitest';
import { keyFor, rig } from '../fixtures/rig.fixture.js';
import type { Decide } from '../options.js';
import type { NotificationMessage } from './sender.js';

const asking: Decide = () => ({
  kind: 'approve',
  rule: 'ask-first',
  explanation: 'Ask.',
  expiresInMs: 3_600_000,
});

describe('notices', () => {
  it('of an approval say what a person needs, and nothing of its arguments', async () => {
    const told: NotificationMessage[] = [];
    const { clock, start, store } = rig({
      decide: asking,
      notify: async (message) => void told.push(message),
    });
    const server = start();
    server.journal.start();
    const { error } = await clock.run(server.call('post', { text: 'something private' }));
    await clock.advance(3000);
    const head = await store.auditHead();
    expect(told).toEqual([
      {
        kind: 'approval_requested',
        operation_id: error?.operation_id,
        tool: 'post',
        account: 'default',
        at: '2026-03-01T12:00:00.000Z',
        rule: 'ask-first',
        expires_at: '2026-03-01T13:00:00.000Z',
        audit_head: head,
      },
    ]);
    expect(JSON.stringify(told)).not.toContain('private');
  });

  it('of an unknown operation are told once, by one of the processes', async () => {
    const told: NotificationMessage[] = [];
    const notify = async (message: NotificationMessage) => void told.push(message);
    const { clock, start, upstream } = rig({ notify });
    const servers = [start(), start(), start()];
    for (const { journal } of servers) journal.start();
    upstream.plans.push({ answers: 'reset' });
    await clock.run(servers[0]!.call('post', { text: 'a', idempotency_key: keyFor('a') }));
    await clock.advance(300_000);
    expect(told).toMatchObject([{ kind: 'operation_unknown', tool: 'post' }]);
  });

  it('that could not be told are told again, ever later', async () => {
    const tries: number[] = [];
    const { clock, start } = rig({
      decide: asking,
      notify: async () => {
        tries.push(clock.now());
        throw new Error('unreachable');
      },
    });
    const server = start();
    server.journal.start();
    await clock.run(server.call('post', { text: 'a' }));
    await clock.advance(200_000);
    const pauses = tries.slice(1).map((at, index) => at - tries[index]!);
    expect(pauses.length).toBeGreaterThan(2);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(server.reports.length).toBe(tries.length);
  });
});
