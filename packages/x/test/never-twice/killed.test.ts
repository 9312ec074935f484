import { startXSandbox, type FaultRule, type XSandbox } from '@toolkeel/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { commitsOf, postsFor, type Act } from '../support/acts.js';
import { callAll, cellsOf, done, undone, type Naming } from '../support/cells.js';
import { useGoverned } from '../support/governed.js';
import { PATIENCE_MS } from '../support/patience.js';
import { useProcesses } from '../support/processes.js';

const { newFolder, onClose } = useGoverned();
const process = useProcesses();

const DAY = 86_400_000;
/** Past every window, and past the time for which finished operations are kept. */
const cases = [
  ['at once', 'with a key', 0],
  ['forty days later', 'without a key', 40 * DAY],
] as const;

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

/** Calls until X has done or seen so much, then kills the server in the middle of it. */
async function killAfter(
  { x, folder }: { readonly x: XSandbox; readonly folder: string },
  acts: readonly Act[],
  naming: Naming,
  rule: FaultRule,
): Promise<void> {
  const server = await process(x, folder);
  const from = x.log({ route: 'create-post' }).length;
  x.setFaults([{ ...rule, routes: ['create-post'] }]);
  const calls = callAll(server, acts, naming).catch(() => 'cut off');
  const wanted = from + (rule.skip ?? 0) + acts.length;
  const soon = { timeout: 15_000 };
  await vi.waitUntil(() => x.log({ route: 'create-post' }).length === wanted, soon);
  if (rule.kind === 'acted-stall') {
    const made = (rule.skip ?? 0) + acts.length;
    await vi.waitUntil(() => acts.flatMap((act) => commitsOf(act, x).flat()).length === made, soon);
  }
  await server.kill();
  expect(await calls).toBe('cut off');
  x.setFaults([]);
}

const isThread = ({ tool }: Act): boolean => tool === 'x_post_thread';

describe.concurrent('a server that is killed in the middle of a post', () => {
  it.each(cases)(
    'which X had made: the next one finds it %s, %s',
    async (_, naming, ms) => {
      const { x, folder } = await world();
      const acts = (await postsFor(x, 'one')).filter((act) => !isThread(act));
      await killAfter({ x, folder }, acts, naming, { kind: 'acted-stall' });
      x.clock.advance(ms);
      const next = await process(x, folder, ms);
      const answers = await callAll(next, acts, naming);
      const again = await callAll(next, acts, naming);
      expect(cellsOf(acts, x, 0, answers, again)).toEqual(
        acts.map((act) => done(act, naming, ['ok', 'ok'])),
      );
    },
    PATIENCE_MS,
  );

  it.each(cases.slice(1))(
    'which X had not read: nobody sends it again %s, %s',
    async (_, naming, ms) => {
      const { x, folder } = await world();
      const acts = (await postsFor(x, 'one')).slice(0, 1);
      await killAfter({ x, folder }, acts, naming, { kind: 'stall' });
      x.clock.advance(ms);
      const answers = await callAll(
        await process(x, folder, ms, { toolTimeoutSecs: 2.5 }),
        acts,
        naming,
      );
      expect(cellsOf(acts, x, 0, answers)).toEqual(
        acts.map((act) => undone(act, ['outcome_unknown unknown'])),
      );
      expect(x.log({ route: 'create-post' })).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});

describe.concurrent('a server that is killed after part 2 of 4 of a thread', () => {
  it.each(cases)(
    'the next one goes on at part 3 %s, %s',
    async (_, naming, ms) => {
      const { x, folder } = await world();
      const acts = (await postsFor(x, 'one')).filter(isThread);
      await killAfter({ x, folder }, acts, naming, { kind: 'acted-stall', skip: 1 });
      const before = commitsOf(acts[0]!, x);
      expect(before.map(({ length }) => length)).toEqual([1, 1, 0, 0]);
      x.clock.advance(ms);
      const next = await process(x, folder, ms);
      const answers = await callAll(next, acts, naming);
      const again = await callAll(next, acts, naming);
      expect(cellsOf(acts, x, 0, answers, again)).toEqual(
        acts.map((act) => done(act, naming, ['ok', 'ok'])),
      );
      const made = commitsOf(acts[0]!, x).flat();
      for (const [at, part] of made.slice(1).entries()) {
        expect(part).toMatchObject({ reply_to: 'id' in made[at]! && made[at].id });
      }
    },
    PATIENCE_MS,
  );
});
