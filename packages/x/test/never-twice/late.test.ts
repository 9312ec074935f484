import type { FaultRule } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { commitsOf } from '../support/acts.js';
import { callAll, cellsOf, done, namings, type Naming } from '../support/cells.js';
import { ending, type Answer } from '../support/connect.js';
import { PATIENCE_MS } from '../support/patience.js';
import { useStage } from '../support/stage.js';

const stage = useStage();

const acted: readonly FaultRule[] = [
  { kind: 'close-after-read' },
  { kind: 'acted-http-503' },
  { kind: 'acted-stall', stallMs: 300 },
  { kind: 'half-body' },
  { kind: 'garbage' },
];

const AN_HOUR = 3_600_000;
const UNKNOWN = 'outcome_unknown unknown';
const brief = { toolTimeoutSecs: 4 };
/** Whoever looks after what is unknown does so often. */
const watchful = { journal: { leaseMs: 1_500 } };

const operationOf = (answer: Answer | undefined): string =>
  answer?.success === false ? (answer.error.operation_id ?? '') : '';

async function expectUnknownThenDone(rule: FaultRule, naming: Naming): Promise<void> {
  const { x, server, another, acts: prepare } = await stage(brief, watchful);
  const acts = (await prepare('one')).filter(({ isPost }) => isPost);
  const next = await another();
  await Promise.all([server.call('x_get_me'), next.call('x_get_me')]);
  const after = x.commits().length;
  x.setLag(AN_HOUR);
  x.setFaults([{ ...rule, routes: ['create-post'] }]);
  const first = await callAll(server, acts, naming);
  x.setFaults([]);
  const sent = x.log({ route: 'create-post' }).length;
  const second = await callAll(next, acts, naming);
  const { kind } = rule;
  expect({ kind, ended: [first, second].map((round) => round.map(ending)) }).toEqual({
    kind,
    ended: [acts.map(() => UNKNOWN), acts.map(() => UNKNOWN)],
  });
  for (const [at, answer] of first.entries()) {
    const id = operationOf(answer);
    expect(operationOf(second[at])).toBe(id);
    expect(await server.call('get_operation', { operation_id: id })).toMatchObject({
      data: { state: 'unknown', outcome: 'unknown' },
    });
  }
  expect(x.log({ route: 'create-post' })).toHaveLength(sent);

  x.setLag(0);
  // Of what is one request a live process finds out by itself; of a thread whoever goes on with it.
  for (const [at, act] of acts.entries()) {
    if (act.tool === 'x_post_thread') continue;
    const asked = { operation_id: operationOf(first[at]) };
    const made = commitsOf(act, x, after)[0]?.[0];
    await expect
      .poll(async () => (await server.call('get_operation', asked)).data, { timeout: 20_000 })
      .toMatchObject({
        state: 'reconciled',
        outcome: 'executed',
        answer: { data: act.data([made!]) },
      });
  }
  const third = await callAll(next, acts, naming);
  const fourth = await callAll(server, acts, naming);
  expect({ kind, cells: cellsOf(acts, x, after, third, fourth) }).toEqual({
    kind,
    cells: acts.map((act) => done(act, naming, ['ok', 'ok'])),
  });
}

describe('X shows later than the bound what it has done', () => {
  it(
    'nobody knows, until X shows it; and it is there once',
    async () => {
      // At the same time, because most of it is waiting.
      await Promise.all(
        acted.map((rule, index) => expectUnknownThenDone(rule, namings[index % 2]!)),
      );
    },
    PATIENCE_MS,
  );

  it(
    'a thread goes on behind the part that was shown late',
    async () => {
      const { x, server, another, acts: prepare } = await stage(brief, watchful);
      const acts = (await prepare('one')).filter(({ tool }) => tool === 'x_post_thread');
      const [thread] = acts as [(typeof acts)[number]];
      const after = x.commits().length;
      x.setLag(AN_HOUR);
      x.setFaults([{ kind: 'acted-http-503', routes: ['create-post'], skip: 1, times: 1 }]);
      const first = await server.call(thread.tool, thread.args);
      const made = commitsOf(thread, x, after).flat();
      expect(made).toHaveLength(2);
      expect(first).toMatchObject({
        data: { posted: [{ index: 0, id: 'id' in made[0]! && made[0].id }], failed: { index: 1 } },
        error: { code: 'outcome_unknown', outcome: 'unknown' },
      });
      const second = await (await another()).call(thread.tool, thread.args);
      expect(ending(second)).toBe(UNKNOWN);
      expect(commitsOf(thread, x, after).flat()).toHaveLength(2);
      x.setLag(0);
      const third = await (await another()).call(thread.tool, thread.args);
      const asked = { operation_id: operationOf(first) };
      expect(await server.call('get_operation', asked)).toMatchObject({
        data: { state: 'succeeded', outcome: 'executed' },
      });
      const fourth = await server.call(thread.tool, thread.args);
      expect(cellsOf(acts, x, after, [third], [fourth])).toEqual([
        done(thread, 'without a key', ['ok', 'ok']),
      ]);
    },
    PATIENCE_MS,
  );
});
