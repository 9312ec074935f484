import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stillClock } from './clock.fixture.js';
import { XProblem } from './problems.js';
import { populatedWorld } from './population/populate.js';
import { postFrom } from './world/compose-post.js';
import { referenceOf } from './world/records.js';
import { parseQuery } from './search.js';

const { world, landmarks } = populatedWorld(stillClock(), 1);
const meId = landmarks.me.id;
const add = (id: string, text: string): void =>
  world.addPost(
    postFrom(world, { id, authorId: meId, created: { at: world.clock.now(), lag: 0 }, text }),
  );
add('9000000000000000001', 'Red apples & green pears #fruit');
add('9000000000000000002', 'Green apples https://example.com/orchard $PEAR');
add('9000000000000000003', 'RED pears, said @sandbox_me');

const foundBy = (query: string): string => {
  const test = parseQuery(query, world);
  return [...world.posts.values()]
    .filter((post) => post.id.startsWith('90000') && test(post))
    .map(({ id }) => id.at(-1))
    .join('');
};

describe('a query', () => {
  test.for([
    ['apples', '12'],
    ['red', '13'],
    ['green pears', '1'],
    ['"green pears"', '1'],
    ['"pears green"', ''],
    ['apples -green', ''],
    ['apples -red', '2'],
    ['apples OR pears', '123'],
    ['(apples OR pears) red', '13'],
    ['red apples OR orchard', '1'],
    ['#fruit', '1'],
    ['#FRUIT OR $pear', '12'],
    ['@sandbox_me', '3'],
    ['from:sandbox_me apples', '12'],
    [`from:${meId} pears`, '13'],
    ['from:nobody', ''],
    ['url:example.com', '2'],
    ['apples has:links', '2'],
    ['apples -has:links', '1'],
    ['pears has:mentions is:reply', ''],
    ['conversation_id:9000000000000000001', '1'],
    ['apple', ''],
  ] as const)('%s finds "%s"', ([query, found]) => {
    expect(foundBy(query)).toBe(found);
  });

  test('matches replies, quotes and reposts', () => {
    for (const [word, type] of [
      ['reply', 'replied_to'],
      ['quote', 'quoted'],
      ['retweet', 'retweeted'],
    ] as const) {
      const matches = parseQuery(`from:${meId} is:${word}`, world);
      const found = [...world.posts.values()].filter(matches);
      expect(found.length).toBeGreaterThan(5);
      expect(found.every((post) => referenceOf(post, type) !== undefined)).toBe(true);
    }
  });

  test.for([
    ['(apples', /missing '\)' \(at position 8\)/],
    ['apples)', /extraneous input/],
    ['apples OR', /mismatched input/],
    ['()', /mismatched input/],
    ['is:reply', /at least one positive/],
    ['-apples', /at least one positive/],
    ['apples OR is:reply', /at least one positive/],
    ['filter:replies apples', /invalid operator 'filter'/],
    ['is:nice apples', /invalid operator 'is'/],
    ['apples and pears', /Ambiguous use of and/],
    ['"apples', /no viable alternative/],
    ['('.repeat(100), /mismatched input/],
  ] as const)('%s is rejected', ([query, why]) => {
    const problem = (() => {
      try {
        parseQuery(query, world);
        return undefined;
      } catch (cause) {
        return cause;
      }
    })();
    expect(problem).toBeInstanceOf(XProblem);
    expect(JSON.stringify((problem as XProblem).body)).toMatch(why);
  });

  test('is compiled or rejected for any text', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.constantFrom(
        '(',
        ')',
        ' OR ',
        ' ',
        '-',
        '"',
        'from:',
        'is:reply',
        'has:',
        '#a',
        '$B',
        '@c',
        'url:"x',
        '\\',
      ),
    );
    const [post] = world.newest();
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        try {
          const test = parseQuery(pieces.join(''), world);
          expect(typeof (post && test(post))).toBe('boolean');
        } catch (cause) {
          expect(cause).toBeInstanceOf(XProblem);
        }
      }),
      { numRuns: 500 },
    );
  });
});
