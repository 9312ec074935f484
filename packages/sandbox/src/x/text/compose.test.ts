import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compose, type Draft } from './compose.js';

const known: Readonly<Record<string, string>> = { heron: '7', wren: '8' };
const idOf = (name: string): string | undefined => known[name.toLowerCase()];
const composed = (draft: Partial<Draft>) => compose({ id: '1', text: '', ...draft }, idOf);
const cut = (text: string, { start, end }: { start: number; end: number }): string =>
  Array.from(text).slice(start, end).join('');

describe('a submitted text', () => {
  test('has its links shortened and listed', () => {
    const { text, entities } = composed({ text: 'a https://example.com/x?y=1&z=2 b example.org' });
    const [first, second] = entities.urls ?? [];
    expect(text).toBe(`a ${first?.url ?? ''} b ${second?.url ?? ''}`);
    expect(first).toMatchObject({
      expanded_url: 'https://example.com/x?y=1&z=2',
      display_url: 'example.com/x?y=1&z=2',
    });
    expect(second).toMatchObject({ expanded_url: 'http://example.org' });
    expect(first?.url).not.toBe(second?.url);
  });

  test('is escaped, with positions in code points', () => {
    const { text, entities } = composed({ text: '👍 <& #tag $ABC @heron @nobody' });
    expect(text).toBe('👍 &lt;&amp; #tag $ABC @heron @nobody');
    expect(entities).toEqual({
      hashtags: [{ start: 12, end: 16, tag: 'tag' }],
      cashtags: [{ start: 17, end: 21, tag: 'ABC' }],
      mentions: [{ start: 22, end: 28, username: 'heron', id: '7' }],
    });
  });

  test('begins with the addressed usernames', () => {
    const { text, entities } = composed({ text: 'yes', leading: ['heron', 'wren'] });
    expect(text).toBe('@heron @wren yes');
    expect(entities.mentions?.map(({ id }) => id)).toEqual(['7', '8']);
  });

  test('ends with one link to its media, and one to the quoted post', () => {
    const { text, entities } = composed({
      text: 'look',
      appended: [
        {
          pictures: [
            { expandedUrl: 'https://x.com/a/status/1/photo/1', mediaKey: '3_1' },
            { expandedUrl: 'https://x.com/a/status/1/photo/2', mediaKey: '3_2' },
          ],
        },
        { quoted: 'https://x.com/b/status/2' },
      ],
    });
    expect(text).toMatch(/^look https:\/\/t\.co\/\w{10} https:\/\/t\.co\/\w{10}$/);
    expect(entities.urls?.map(({ media_key }) => media_key)).toEqual(['3_1', '3_2', undefined]);
    expect(new Set(entities.urls?.map(({ url }) => url)).size).toBe(2);
  });

  test('has no tags and mentions inside links', () => {
    const { entities } = composed({ text: 'https://example.com/@heron#tag$ABC' });
    expect(Object.keys(entities)).toEqual(['urls']);
  });
});

test('every entity is at its position', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom(
      ' ',
      '@heron',
      '#tag',
      '$ABC',
      'https://example.com/a',
      'example.com',
      '&',
      '<',
      '👍',
      '日',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const { text, entities } = composed({ text: pieces.join('') });
      for (const url of entities.urls ?? []) expect(cut(text, url)).toBe(url.url);
      for (const mention of entities.mentions ?? [])
        expect(cut(text, mention).slice(1)).toBe(mention.username);
      for (const { tag, ...place } of [...(entities.hashtags ?? []), ...(entities.cashtags ?? [])])
        expect(cut(text, place).slice(1)).toBe(tag);
      expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
    }),
  );
});
