import { startXSandbox } from '@toolkeel/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { commitsOf, postsFor, type Act } from '../support/acts.js';
import { PATIENCE_MS } from '../support/closing.js';
import { type Mortal, useGoverned, useProcesses } from '../support/governed.js';
import { brief, callAll, cellsOf, done, undone } from '../support/stage.js';

const { newFolder, onClose } = useGoverned();
const process = useProcesses();

const DAY = 86_400_000;
/** After every dedup window and the retention time. */
const cases = [
  ['at once', 'with a key', 0],
  ['forty days later', 'without a key', 40 * DAY],
] as const;

type World = Awaited<ReturnType<typeof world>>;

async function world() {
  const lifetime = (50 * DAY) / 1000;
  const x = await startXSandbox({
    tier: 'enterprise',
    duplicateWindowMs: 0,
    accessTokenLifetimeSeconds: lifetime,
  });
  onClose(() => x.close());
  return { x, folder: await newFolder() };
}

const soon = { timeout: 30_000 };

/** Starts all calls, waits until X holds each of them, then kills the server. */
async function killAfter(
  { x, folder }: World,
  begin: (server: Mortal) => Promise<readonly Promise<unknown>[]>,
): Promise<void> {
  const server = await process(x, folder);
  const calls = (await begin(server)).map((call) => call.catch(() => 'cut off'));
  await server.kill();
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['cut off']));
  x.setFaults([]);
}

const isThread = ({ tool }: Act): boolean => tool === 'x_post_thread';

describe('a server that is killed while posting, and in part 2 of 4 of a thread', () => {
  it.each(cases)(
    'after X executed: the next server finds the posts and resumes at part 3, %s, %s',
    async (_, naming, ms) => {
      const { x, folder } = await world();
      const all = await postsFor(x, 'one');
      const [threads, posts] = [all.filter(isThread), all.filter((act) => !isThread(act))];
      const acts = [...threads, ...posts];
      const made = (some: readonly Act[]) => some.flatMap((act) => commitsOf(act, x).flat()).length;
      await killAfter({ x, folder }, async (server) => {
        x.setFaults([{ kind: 'acted-stall', routes: ['create-post'], skip: 1 }]);
        const thread = callAll(server, threads, naming);
        await vi.waitUntil(() => made(threads) === 2, soon);
        const others = callAll(server, posts, naming);
        await vi.waitUntil(() => made(posts) === posts.length, soon);
        return [thread, others];
      });
      expect(commitsOf(threads[0]!, x).map(({ length }) => length)).toEqual([1, 1, 0, 0]);
      x.clock.advance(ms);
      const next = await process(x, folder, ms);
      const answers = await callAll(next, acts, naming);
      const again = await callAll(next, acts, naming);
      expect(cellsOf(acts, x, 0, answers, again)).toEqual(
        acts.map((act) => done(act, naming, ['ok', 'ok'])),
      );
      const parts = commitsOf(threads[0]!, x).flat();
      for (const [at, part] of parts.slice(1).entries()) {
        expect(part).toMatchObject({ reply_to: 'id' in parts[at]! && parts[at].id });
      }
    },
    PATIENCE_MS,
  );

  it.each(cases.slice(1))(
    'before X read the request: nothing is resent, %s, %s',
    async (_, naming, ms) => {
      const { x, folder } = await world();
      const acts = (await postsFor(x, 'one')).slice(0, 1);
      await killAfter({ x, folder }, async (server) => {
        x.setFaults([{ kind: 'stall', routes: ['create-post'] }]);
        const calls = callAll(server, acts, naming);
        await vi.waitUntil(() => x.log({ route: 'create-post' }).length === 1, soon);
        return [calls];
      });
      x.clock.advance(ms);
      const answers = await callAll(await process(x, folder, ms, brief), acts, naming);
      expect(cellsOf(acts, x, 0, answers)).toEqual(
        acts.map((act) => undone(act, ['outcome_unknown unknown'])),
      );
      expect(x.log({ route: 'create-post' })).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});
