import type { Tool } from '@toolkeel/contract';
import type { Decide } from '@toolkeel/journal';
import { expect, it } from 'vitest';
import { governed, shelf } from './governed.fixture.js';

const ask = { kind: 'approve', rule: 'r', explanation: 'Ask.', expiresInMs: 60_000 } as const;
/** Asks for everything, until a person has agreed. */
const decide: Decide = (_, { approved }) => (approved ? { kind: 'allow', limits: [] } : ask);

it('an approved call is written down with the attempts and waits that it took', async () => {
  const { tools, done } = shelf();
  const upstream = { asked: (_correlationId: string): void => {} };
  const retrying = tools.map((tool): Tool =>
    tool.name === 'put'
      ? {
          ...tool,
          handler: async (args, context) => {
            upstream.asked(context.correlationId);
            return tool.handler(args, context);
          },
        }
      : tool,
  );
  const { call, host, store } = await governed(
    { tools: retrying, done },
    {},
    { journaling: { decide } },
  );
  upstream.asked = (correlationId) => {
    const said = (type: string, more: object): void =>
      host.observe(Object.assign({ correlationId, type }, more, { upstream: 'shelf', at: 0 }));
    said('retry_attempt', { attempt: 0, afterMs: 70 });
    for (const attempt of [0, 1]) said('attempt_end', { attempt, elapsedMs: 15 });
    said('call_end', { attempts: 2, elapsedMs: 100 });
  };
  const { error } = await call('put', { thing: 'vase' });
  const id = error?.operation_id ?? '';
  const hash = (await store.get(id))?.approval?.hash ?? '';
  await store.decideApproval(id, { decision: 'approved', hash, by: 'ana', holdMs: 0 });
  await expect.poll(() => done).toEqual(['vase']);
  await expect.poll(async () => (await store.get(id))?.state).toBe('succeeded');
  const { text } = await host.metrics();
  await host.close();
  const rows = (await store.calls()).filter(({ code }) => code === 'ok');
  expect(rows).toMatchObject([{ tool: 'put', operationId: id, attempts: 2, waitedMs: 70 }]);
  expect(text).toContain('retries_attempted_total{tool_name="put"} 1');
});

it('a notice that nobody took is not called a failure of the journal', async () => {
  const notify = () => Promise.reject(new Error('410 Gone'));
  const { call, host, linesOf } = await governed(shelf(), {}, { journaling: { decide, notify } });
  await call('put', { thing: 'vase' });
  await expect.poll(() => linesOf('notice_failed')).toHaveLength(1);
  const [asked] = linesOf('approval_requested');
  expect(linesOf('notice_failed')).toMatchObject([{ correlation_id: asked?.['correlation_id'] }]);
  expect(linesOf('journal_failed')).toEqual([]);
  await host.close();
});
