import type { NotificationMessage } from '@toolkeel/journal';
import { expect, it, vi } from 'vitest';
import { Secret } from '../secret/secrets.js';
import { notifierOf } from './notifier.js';

const message: NotificationMessage = {
  kind: 'operation_unknown',
  operation_id: 'op_1',
  tool: 't',
  account: 'a',
  at: '2026-05-01T00:00:00.000Z',
};

const setUp = () => {
  const hook = vi.fn(() => Promise.resolve());
  const program = vi.fn(() => Promise.resolve());
  const webhookNotifier = vi.fn(() => hook);
  const commandNotifier = vi.fn(() => program);
  return { hook, program, webhookNotifier, commandNotifier };
};
const webhook = { url: new Secret('u', 'https://a.example/'), token: new Secret('t', 'abc') };

it('is undefined if none is configured', () => {
  expect(notifierOf({}, setUp())).toBeUndefined();
});

it('notifies the webhook, with its token, and the command', async () => {
  const all = setUp();
  await notifierOf({ webhook, command: ['tell', 'me'] }, all)?.(message);
  expect(all.webhookNotifier).toHaveBeenCalledWith({
    url: 'https://a.example/',
    headers: { authorization: 'Bearer abc' },
  });
  expect(all.commandNotifier).toHaveBeenCalledWith({ command: ['tell', 'me'] });
  expect(all.hook).toHaveBeenCalledWith(message);
  expect(all.program).toHaveBeenCalledWith(message);
});

it('repeats a notification only to the notifier that failed', async () => {
  const all = setUp();
  all.hook.mockRejectedValueOnce(new Error('busy'));
  const notify = notifierOf({ webhook, command: ['tell'] }, all)!;
  await expect(notify(message)).rejects.toThrow('busy');
  await notify(message);
  expect([all.hook.mock.calls.length, all.program.mock.calls.length]).toEqual([2, 1]);
  // The notification is complete: the same message is a new one.
  await notify(message);
  expect([all.hook.mock.calls.length, all.program.mock.calls.length]).toEqual([3, 2]);
});
