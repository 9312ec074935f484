import type { OtherOperation } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import type { Post } from '../model.js';
import { claimsOf, couldBecome } from './claims.js';

const reply = (text: string, to?: string): Post => ({
  id: '99',
  text,
  ...(to !== undefined && { referenced_tweets: [{ type: 'replied_to', id: to }] }),
});

const thread = (
  more: Partial<OtherOperation>,
  tweets = ['one', 'same', 'same'],
): OtherOperation => ({
  tool: 'x_post_thread',
  args: { tweets },
  results: [],
  openSince: 0,
  ...more,
});

/** Whether another operation may have created a post. */
async function mayBe(post: Post, ...others: readonly OtherOperation[]): Promise<boolean> {
  const { competing } = await claimsOf(async () => others);
  return competing.some((rival) => couldBecome(rival, post));
}

const parts = [
  { id: '1', text: 'one' },
  { id: '2', text: 'same' },
];
/** The result of an earlier call. */
const told = { posted: [{ index: 0, id: '1' }], unposted: 2 };

describe('posts that an in-flight thread may have created', () => {
  it.each([
    ['its first part, which is no reply', [], reply('one'), true],
    ['nothing below another post while that is open', [], reply('one', '5'), false],
    ['nothing that comes after it', [], reply('same', '1'), false],
    ['its second part below the first', parts.slice(0, 1), reply('same', '1'), true],
    [
      'the same, after a call that told of it',
      [told, ...parts.slice(0, 1)],
      reply('same', '1'),
      true,
    ],
    ['not below a post of others', parts.slice(0, 1), reply('same', '5'), false],
    ['its third part below the second', parts, reply('same', '2'), true],
    ['not its second part once more', parts, reply('same', '1'), false],
    ['nothing more, once all of it is known', [...parts, { id: '3' }], reply('same', '2'), false],
  ])('%s', async (_, results, post, expected) => {
    expect(await mayBe(post, thread({ results }))).toBe(expected);
  });

  it.each([
    ['a part has no id', [parts[0], { tweet_id: '2' }]],
    ['a part has no record that can be read', [parts[0], null]],
    ['an answer names more than its steps', [{ posted: parts }, parts[0]]],
  ])('any part in reply to any post, if %s', async (_, results) => {
    expect(await mayBe(reply('same', '5'), thread({ results }))).toBe(true);
    expect(await mayBe(reply('one'), thread({ results }))).toBe(true);
    expect(await mayBe(reply('same'), thread({ results }))).toBe(false);
  });

  it('any part, if an operator settled it as executed without ids', async () => {
    const { openSince: _, ...settled } = thread({ executedAt: 0, results: parts.slice(0, 1) });
    expect(await mayBe(reply('same', '5'), settled)).toBe(true);
    expect(await mayBe(reply('same', '5'), { ...settled, results: [...parts, { id: '3' }] })).toBe(
      false,
    );
  });
});
