import { expect, it } from 'vitest';
import { created, useSandbox } from './support/sandbox.js';

const sandboxWorld = useSandbox();

const one = 'watching $ABC today';
const two = 'watching $ABC and $DEF today';
const calls = (text: string, id: string) =>
  [
    ['x_post_tweet', { text }],
    ['x_reply_to_tweet', { text, in_reply_to_id: id }],
    ['x_post_thread', { tweets: ['first', text] }],
  ] as const;

it('a second cashtag is not sent, for X takes one from those who do not pay for more', async () => {
  const { rig, sandbox } = await sandboxWorld({ tier: 'self_serve' });
  for (const [tool, args] of calls(two, sandbox.landmarks.mentionId)) {
    const error = await rig.error(tool, args);
    expect(error).toMatchObject({
      code: 'x_forbidden',
      outcome: 'not_executed',
      retryable: false,
      details: { reason: 'tier' },
    });
    expect(error.message).toContain('2 cashtags');
  }
  expect(sandbox.log({ route: 'create-post' })).toEqual([]);
});

it.each([
  ['one', 'self_serve', one],
  ['two of the enterprise tier', 'enterprise', two],
] as const)('%s is sent', async (_, tier, text) => {
  const { rig, sandbox } = await sandboxWorld({ tier, duplicateWindowMs: 0 });
  const all = calls(text, sandbox.landmarks.mentionId);
  for (const [tool, args] of all) await rig.data(tool, args);
  expect(created(sandbox).filter((made) => made.text === text)).toHaveLength(all.length);
});
