import { expect, test } from 'vitest';
import { closeAfterEach, world } from './support/rig.js';

closeAfterEach();

const POSTS = 1000;
const endless = 1_000_000;

test('1,000 POSTs whose socket is cut after the commit: no duplicate, and every created id is returned', async () => {
  const { rig, repo, github } = await world(
    {
      limits: { core: endless },
      secondary: { pointsPerMinute: endless, contentPerMinute: endless, contentPerHour: endless },
      faults: [{ kind: 'reset-after-read', routes: ['create-comment'] }],
    },
    {
      pacing: {
        mutationIntervalMs: 0,
        pointsPerMinute: endless,
        contentPerMinute: endless,
        contentPerHour: endless,
      },
    },
  );
  const { issue: number } = github.landmarks;
  const returned: number[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < POSTS) {
      const body = `post ${(next += 1)}`;
      const { id } = await rig.data('comment', { repo, number, body });
      returned.push(id ?? 0);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  const committed = github.commits({ kind: 'comment.created' });
  expect(committed).toHaveLength(POSTS);
  expect(github.duplicates()).toEqual([]);
  expect(returned.toSorted((one, other) => one - other)).toEqual(committed.map(({ id }) => id));
}, 180_000);
