import { describe, expect, test } from 'vitest';
import { stillClock } from '../clock.fixture.js';
import { weightedLength } from '../text/length.js';
import { compareIds } from '../world/records.js';
import { digestOf, populatedWorld } from './populate.js';

const { world, landmarks } = populatedWorld(stillClock(), 1);

describe('the population', () => {
  test('has not changed since the last version', () => {
    expect([world.users.size, world.posts.size, digestOf(world)]).toMatchInlineSnapshot(`
      [
        420,
        2689,
        "d6612bdd",
      ]
    `);
  });

  test.for([1, 2, 3, 99])('has all named records with the seed %d', (seed) => {
    const own = populatedWorld(stillClock(), seed);
    const { me, ...rest } = own.landmarks;
    for (const [name, id] of [...Object.entries(rest), ['me', me.id] as const]) {
      const { posts, users, lists } = own.world;
      expect([name, posts.has(id) || users.has(id) || lists.has(id)]).toEqual([name, true]);
    }
  });

  test('is in order of time, and none of it lies in the future', () => {
    const ids = [...world.newest()].map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => compareIds(b, a)));
    for (const { createdAt } of world.posts.values())
      expect(createdAt).toBeLessThanOrEqual(world.clock.now() + 2000);
  });

  test('has valid lengths', () => {
    for (const post of world.posts.values())
      if (!post.sent.startsWith('RT ')) expect(weightedLength(post.sent)).toBeLessThanOrEqual(280);
    expect(world.posts.get(landmarks.deletedPostId)?.deleted).toBeDefined();
  });
});
