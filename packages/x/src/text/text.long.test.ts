import { expect, it } from 'vitest';
import { matchesDraft } from '../posts/match.js';
import { growsWithLength, hostile } from './hostile.fixture.js';
import { expectAgreement } from './oracle.fixture.js';
import { weightedLength } from './weighted-length.js';

const pieces = [
  ['(a)', '(', '!', 'a', '.', '日', '-', '_', '/', '?', 'https://', 'a.com', 'a.com/', 'a.com?'],
  ['.jp', 'xn--', '$A', '@a', 'é', '\u200d', '👍', '🏽', '\ufe0f', ' ', ':8', '\u0301', '\u0316'],
  ['🇩', '&', '#', '1', 'com.', 't.co/', `${'x'.repeat(63)}.`],
].flat();
const pairs = pieces.flatMap((one) => pieces.map((other) => `${one}${other}`));

it.each(['', 'a.com/', 'https://a.com?'])(
  'takes no more time for any two pieces again and again behind %j than their length allows',
  (before) => {
    const work = (text: string) => [
      weightedLength(text),
      matchesDraft({ text: 'a' }, { id: '1', text }),
    ];
    const slow = pairs.filter((pair) => !growsWithLength(work, hostile(before, pair, '('), 24_000));
    expect(slow).toEqual([]);
  },
);

it('agrees with twitter-text on a large amount of generated text', () => {
  expectAgreement(400_000);
});
