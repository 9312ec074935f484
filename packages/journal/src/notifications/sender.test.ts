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

describe('notifications', () => {
  it('of an approval carry the rule and the expiry, and no arguments', async () => {
    const sent: NotificationMessage[] = [];
    const { clock, start, store } = rig({
      decide: asking,
      notify: async (message) => void sent.push(message),
    });
    const server = start();
    server.journal.start();
    const { error } = await clock.run(server.call('post', { text: 'something private' }));
    await clock.advance(3000);
    const head = await store.auditHead();
    expect(sent).toEqual([
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
    expect(JSON.stringify(sent)).not.toContain('private');
  });

  it('of an unknown operation are sent once, by one of the processes', async () => {
    const sent: NotificationMessage[] = [];
    const notify = async (message: NotificationMessage) => void sent.push(message);
    const { clock, start, upstream } = rig({ notify });
    const servers = [start(), start(), start()];
    for (const { journal } of servers) journal.start();
    upstream.plans.push({ answers: 'reset' });
    await clock.run(servers[0]!.call('post', { text: 'a', idempotency_key: keyFor('a') }));
    await clock.advance(300_000);
    expect(sent).toMatchObject([{ kind: 'operation_unknown', tool: 'post' }]);
  });

  it('are retried with increasing delays after a failure', async () => {
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
