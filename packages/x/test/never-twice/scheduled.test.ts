import { startXSandbox } from '@toolkeel/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { PATIENCE_MS } from '../support/closing.js';
import { useGoverned, useProcesses } from '../support/governed.js';
import { created } from '../support/rig.js';

const { newFolder, onClose } = useGoverned();
const process = useProcesses();
const soon = { timeout: 60_000, interval: 50 };

describe('a scheduled post and real processes', () => {
  it(
    'is posted once: by one of two, and found again if that one is killed after X executed',
    async () => {
      const x = await startXSandbox({ duplicateWindowMs: 0 });
      onClose(() => x.close());
      const folder = await newFolder();
      const server = () => process(x, folder, 0, { profile: 'workflow' });
      const [first, second] = await Promise.all([server(), server()]);
      const draft = {
        tweets: ['exactly once'],
        scheduled_for: new Date(Date.now() + 1500).toISOString(),
      };
      expect(await first.call('compose_tweet', draft)).toMatchObject({
        data: { state: 'scheduled' },
      });
      expect(await second.call('compose_tweet', draft)).toMatchObject({ success: true });
      // X executes the request and never answers.
      x.setFaults([{ kind: 'acted-stall', routes: ['create-post'] }]);
      await vi.waitUntil(() => created(x).length === 1, soon);
      await Promise.all([first.kill(), second.kill()]);
      x.setFaults([]);
      const next = await server();
      await vi.waitUntil(async () => {
        const { data } = await next.call('list_drafts');
        return JSON.stringify(data).includes('"posted"');
      }, soon);
      const [post] = created(x);
      expect(await next.call('list_drafts')).toMatchObject({
        data: { drafts: [{ state: 'posted', tweet_ids: [post!.id] }] },
      });
      expect(created(x)).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});
