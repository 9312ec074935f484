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

it('is nobody where the configuration names nobody', () => {
  expect(notifierOf({}, setUp())).toBeUndefined();
});

it('is whom the configuration names, with the token', async () => {
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

it('tells again only who has not heard it', async () => {
  const all = setUp();
  all.hook.mockRejectedValueOnce(new Error('busy'));
  const notify = notifierOf({ webhook, command: ['tell'] }, all)!;
  await expect(notify(message)).rejects.toThrow('busy');
  await notify(message);
  expect([all.hook.mock.calls.length, all.program.mock.calls.length]).toEqual([2, 1]);
  // It is over: the same notice would be a new one.
  await notify(message);
  expect([all.hook.mock.calls.length, all.program.mock.calls.length]).toEqual([3, 2]);
});
