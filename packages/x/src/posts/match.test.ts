import type { JsonObject } from '@toolkeel/pack-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readIncludes, readPost } from '../api/parse.js';
import { anyText } from '../text/oracle.fixture.js';
import { findUrls } from '../text/urls.js';
import type { Draft } from './draft.js';
import { matchesDraft } from './match.js';

/** An independent model of how X changes a draft. */
function shown(
  draft: Draft,
  more: { mentions?: readonly string[]; added?: string[] } = {},
): JsonObject {
  const normal = draft.text.normalize('NFC');
  const urls: object[] = [];
  let text = '';
  let at = 0;
  const short = (expanded: string): string => {
    const url = `https://t.co/${'abcdefghij'.slice(0, 5)}${urls.length}`;
    urls.push({ url, expanded_url: expanded, display_url: 'x' });
    return url;
  };
  for (const { start, end } of findUrls(normal)) {
    const link = normal.slice(start, end);
    text += normal.slice(at, start) + short(/^https?:/i.test(link) ? link : `http://${link}`);
    at = end;
  }
  text = (text + normal.slice(at)).trim();
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const prefix = (more.mentions ?? []).map((name) => `@${name} `).join('');
  const suffix = (more.added ?? []).map((target) => ` ${short(target)}`).join('');
  return {
    id: '100',
    text: `${prefix}${escaped}${suffix}`.trim(),
    created_at: '2026-06-01T00:00:00.000Z',
    entities: { urls },
    referenced_tweets: [
      ...(draft.replyTo === undefined ? [] : [{ type: 'replied_to', id: draft.replyTo }]),
      ...(draft.quoteOf === undefined ? [] : [{ type: 'quoted', id: draft.quoteOf }]),
    ],
    attachments: {
      media_keys: (draft.mediaIds ?? []).map((id) => `3_${id}`),
      ...(draft.poll && { poll_ids: ['55'] }),
    },
  };
}

/** X returns the poll beside the post. */
const beside = ({ poll }: Draft): JsonObject => ({
  includes: {
    polls: poll && [
      {
        id: '55',
        options: poll.options.map((label, index) => ({
          position: index + 1,
          label: label.normalize('NFC').replaceAll('&', '&amp;'),
          votes: index,
        })),
        duration_minutes: poll.duration_minutes,
      },
    ],
  },
});
const poll = { options: ['yes & no', 'cafe\u0301'], duration_minutes: 60 };

const matches = (draft: Draft, doc: JsonObject, around: JsonObject = {}) =>
  matchesDraft(draft, readPost(doc, readIncludes(around))!);

describe('matchesDraft', () => {
  it.each<[string, Draft, Parameters<typeof shown>[1]]>([
    ['plain text', { text: 'hello' }, {}],
    ['what X escapes', { text: 'a < b && c > d &amp;' }, {}],
    ['links', { text: 'see https://Example.com and example.org/a?b=1#c!' }, {}],
    ['a link to a name that cannot be', { text: 'see c.xn--p1ai1 soon' }, {}],
    ['composed letters', { text: 'cafe\u0301' }, {}],
    ['blanks around', { text: '  hello \n' }, {}],
    ['a reply', { text: 'yes', replyTo: '5' }, { mentions: ['alice', 'bob'] }],
    ['a reply that mentions', { text: '@carol yes', replyTo: '5' }, { mentions: ['alice'] }],
    [
      'media',
      { text: 'look', mediaIds: ['77'] },
      { added: ['https://x.com/me/status/100/photo/1'] },
    ],
    [
      'media alone',
      { text: '', mediaIds: ['77'] },
      { added: ['https://x.com/me/status/100/photo/1'] },
    ],
    ['a quote', { text: 'so', quoteOf: '9' }, { added: ['https://x.com/them/status/9'] }],
    [
      'a quote by a link that says where it was found',
      { text: 'so', quoteOf: '9' },
      { added: ['https://x.com/them/status/9?s=20'] },
    ],
    [
      'a quote that ends in the link to what it quotes',
      { text: 'so https://x.com/them/status/9', quoteOf: '9' },
      { added: ['https://x.com/them/status/9'] },
    ],
    ['a poll', { text: 'tea?', poll }, {}],
  ])('matches %s', (_, draft, more) => {
    expect(matches(draft, shown(draft, more), beside(draft))).toBe(true);
  });

  it.each<[string, Draft, Draft]>([
    ['another text', { text: 'a' }, { text: 'b' }],
    ['another link', { text: 'https://a.com/1' }, { text: 'https://a.com/2' }],
    ['a reply to another', { text: 'a', replyTo: '1' }, { text: 'a', replyTo: '2' }],
    ['no reply', { text: 'a', replyTo: '1' }, { text: 'a' }],
    ['a reply where none was meant', { text: 'a' }, { text: 'a', replyTo: '1' }],
    ['another quote', { text: 'a', quoteOf: '1' }, { text: 'a', quoteOf: '2' }],
    ['other media', { text: 'a', mediaIds: ['1'] }, { text: 'a', mediaIds: ['2'] }],
    ['more media', { text: 'a', mediaIds: ['1'] }, { text: 'a', mediaIds: ['1', '2'] }],
    ['an end of it', { text: 'b', replyTo: '1' }, { text: 'a b', replyTo: '1' }],
    ['a post without its poll', { text: 'a', poll }, { text: 'a' }],
    ['a post with a poll', { text: 'a' }, { text: 'a', poll }],
    ['other options', { text: 'a', poll }, { text: 'a', poll: { ...poll, options: ['1', '2'] } }],
    [
      'more options',
      { text: 'a', poll },
      { text: 'a', poll: { ...poll, options: [...poll.options, '3'] } },
    ],
    [
      'options in another order',
      { text: 'a', poll },
      { text: 'a', poll: { ...poll, options: poll.options.toReversed() } },
    ],
    [
      'a poll of another length',
      { text: 'a', poll },
      { text: 'a', poll: { ...poll, duration_minutes: 61 } },
    ],
  ])('does not match %s', (_, draft, other) => {
    expect(matches(draft, shown(other), beside(other))).toBe(false);
  });

  it('does not match a poll that X does not show', () => {
    expect(matches({ text: 'a', poll }, shown({ text: 'a', poll }))).toBe(false);
    expect(matches({ text: 'a' }, shown({ text: 'a', poll }))).toBe(false);
  });

  it('matches any text that X changes, and no other text', () => {
    fc.assert(
      fc.property(anyText, anyText, (text, other) => {
        fc.pre(text.trim() !== '' && !text.includes('\uFEFF'));
        expect(matches({ text }, shown({ text }))).toBe(true);
        const same = (one: string): string => one.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
        if (findUrls(other).length > 0 || same(text) === same(other)) return;
        if (findUrls(text).length > 0) return;
        expect(matches({ text: other }, shown({ text }))).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a text that starts with a host name with an accented first letter', () => {
  const text = 'Österreich.at lädt ein';
  it.each([
    ['the whole name', 'https://t.co/abc lädt ein', 'http://Österreich.at'],
    ['all but that letter', 'Öhttps://t.co/abc lädt ein', 'http://sterreich.at'],
  ])('matches if X links %s', (_, shownAs, expanded) => {
    const urls = [{ url: 'https://t.co/abc', expanded_url: expanded, display_url: 'x' }];
    const post = readPost(
      { ...shown({ text }), text: shownAs, entities: { urls } },
      readIncludes({}),
    );
    expect(matchesDraft({ text }, post!)).toBe(true);
    expect(matchesDraft({ text: 'Ästerreich.at lädt ein' }, post!)).toBe(false);
  });
});
