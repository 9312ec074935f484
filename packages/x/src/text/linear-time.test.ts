import { describe, expect, it } from 'vitest';
import { matchesDraft } from '../posts/match.js';
import { countCashtags } from '../tier.js';
import { growsWithLength, hostileTexts } from './hostile.fixture.js';
import { fitToBudget, oneLine, unescapeHtml } from './strings.js';
import { weightedLength } from './weighted-length.js';

const EXAMPLE = 30;

/** An agent may send 25 parts of 25,000 characters, which would block the process. */
describe('time grows linearly with the length of an adversarial text', () => {
  it.each([
    ['weightedLength', weightedLength],
    ['countCashtags', countCashtags],
    ['unescapeHtml', unescapeHtml],
    ['oneLine', (text: string) => oneLine(text, 100)],
    [
      'matchesDraft, of the draft',
      (text: string) => matchesDraft({ text }, { id: '1', text: 'a' }),
    ],
    ['matchesDraft, of the post', (text: string) => matchesDraft({ text: 'a' }, { id: '1', text })],
    ['fitToBudget', (text: string) => fitToBudget([{ id: '1', text }])],
  ])('in %s', (_, work) => {
    const slow = hostileTexts.filter((text) => !growsWithLength(work, text));
    expect(slow.map((text) => text(EXAMPLE))).toEqual([]);
  });

  it.each([
    ['what it quotes', { quoteOf: '1' }, '/status/1?', '\n'],
    ['its pictures', { mediaIds: ['1'] }, '/photo/1', 'x'],
  ])('in a link that X reports for %s', (_, more, piece, behind) => {
    const draft = { text: 'a', ...more };
    const media = [{ media_key: '3_1', type: 'photo' }];
    const work = (expanded: string) =>
      matchesDraft(draft, {
        id: '2',
        text: 'a https://t.co/b',
        urls: [{ url: 'https://t.co/b', expanded_url: expanded }],
        ...('mediaIds' in more ? { media } : { referenced_tweets: [{ type: 'quoted', id: '1' }] }),
      });
    expect(growsWithLength(work, (length) => piece.repeat(length / piece.length) + behind)).toBe(
      true,
    );
  });
});
