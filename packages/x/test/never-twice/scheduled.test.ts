import { startXSandbox } from '@toolkeel/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { PATIENCE_MS } from '../support/closing.js';
import { useGoverned, useProcesses } from '../support/governed.js';
import { created } from '../support/rig.js';

const { newFolder, onClose } = useGoverned();
const process = useProcesses();
/** Enough for the calls before it, on a busy machine too: the clock is set, not awaited. */
const LATER_MS = 30 * 60_000;
const soon = { timeout: 60_000, interval: 50 };

describe('a scheduled post and real processes', () => {
  it(
    'is posted once: by one of two, and found again if that one is killed after X executed',
    async () => {
      const x = await startXSandbox({ duplicateWindowMs: 0 });
      onClose(() => x.close());
      const folder = await newFolder();
      const server = (aheadMs = 0) => process(x, folder, aheadMs, { profile: 'workflow' });
      const [first, second] = await Promise.all([server(), server()]);
      const draft = {
        tweets: ['exactly once'],
        scheduled_for: new Date(Date.now() + LATER_MS).toISOString(),
      };
      expect(await first.call('compose_tweet', draft)).toMatchObject({
        data: { state: 'scheduled' },
      });
      expect(await second.call('compose_tweet', draft)).toMatchObject({ success: true });
      // X executes the request and never answers.
      x.setFaults([{ kind: 'acted-stall', routes: ['create-post'] }]);
      await Promise.all([first.setAhead(LATER_MS), second.setAhead(LATER_MS)]);
      await vi.waitUntil(() => created(x).length === 1, soon);
      await Promise.all([first.kill(), second.kill()]);
      x.setFaults([]);
      const next = await server(LATER_MS);
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

  it(
    'that is a thread is completed after its server was killed in the middle of it',
    async () => {
      const x = await startXSandbox({ duplicateWindowMs: 0 });
      onClose(() => x.close());
      const folder = await newFolder();
      const server = (aheadMs = 0) => process(x, folder, aheadMs, { profile: 'workflow' });
      const first = await server();
      const draft = {
        tweets: ['one', 'two', 'three'],
        scheduled_for: new Date(Date.now() + LATER_MS).toISOString(),
      };
      expect(await first.call('compose_tweet', draft)).toMatchObject({ success: true });
      // X executes the second request and never answers.
      x.setFaults([{ kind: 'acted-stall', routes: ['create-post'], skip: 1 }]);
      await first.setAhead(LATER_MS);
      await vi.waitUntil(() => created(x).length === 2, soon);
      await first.kill();
      x.setFaults([]);
      const next = await server(LATER_MS);
      await vi.waitUntil(async () => {
        const { data } = await next.call('compose_tweet', draft);
        return JSON.stringify(data).includes('"posted"');
      }, soon);
      expect(created(x).map(({ text }) => text)).toEqual(['one', 'two', 'three']);
      expect(await next.call('list_drafts')).toMatchObject({
        data: { drafts: [{ state: 'posted', tweet_ids: { length: 3 } }] },
      });
    },
    PATIENCE_MS,
  );
});
