import type { FaultKind } from '@toolkeel/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { commitsOf } from '../support/acts.js';
import { PATIENCE_MS } from '../support/closing.js';
import { ending, settledCall, type Answer, type Connected } from '../support/governed.js';
import {
  brief,
  callAll,
  cellsOf,
  done,
  everywhere,
  namings,
  undone,
  useStage,
} from '../support/stage.js';

const stage = useStage();

const acted: readonly FaultKind[] = [
  'close-after-read',
  'acted-http-503',
  'acted-stall',
  'half-body',
  'garbage',
];

const AN_HOUR = 3_600_000;
const UNKNOWN = 'outcome_unknown unknown';
/** A short lease makes the background reconciliation frequent. */
const watchful = { ...brief, journal: { leaseMs: 6_000 } };

const operationOf = (answer: Answer | undefined): string =>
  answer?.success === false ? (answer.error.operation_id ?? '') : '';

describe.concurrent('X shows an executed post late', () => {
  it(
    'the outcome is unknown until X shows the post, which exists once',
    async () => {
      const { x, server, another, acts: prepare } = await stage({}, watchful);
      const batches = await Promise.all(
        ['one', 'two', 'three'].map(async (tag, index) => {
          const acts = (await prepare(tag)).filter(({ isPost }) => isPost);
          return { acts, naming: namings[index % 2]! };
        }),
      );
      const acts = batches.flatMap((batch) => batch.acts);
      const next = await another();
      await Promise.all([server.call('x_get_me'), next.call('x_get_me')]);
      const ask = async (one: Connected) =>
        (await Promise.all(batches.map((batch) => callAll(one, batch.acts, batch.naming)))).flat();
      const after = x.commits().length;
      const posts = x.log({ route: 'create-post' }).length;
      x.setLag(AN_HOUR);
      x.setFaults([{ kind: acted, stallMs: 300, routes: ['create-post'] }]);
      const first = await ask(server);
      x.setFaults([]);
      const sent = x.log({ route: 'create-post' });
      expect(sent.length - posts).toBe(acts.length);
      expect(new Set(sent.slice(posts).map(({ fault }) => fault))).toEqual(new Set(acted));
      const second = await ask(next);
      expect([first, second].map((round) => round.map(ending))).toEqual(
        Array(2).fill(acts.map(() => UNKNOWN)),
      );
      for (const [at, answer] of first.entries()) {
        const id = operationOf(answer);
        expect(operationOf(second[at])).toBe(id);
        expect(await server.call('get_operation', { operation_id: id })).toMatchObject({
          data: { state: 'unknown', outcome: 'unknown' },
        });
      }
      expect(x.log({ route: 'create-post' })).toHaveLength(sent.length);

      x.setLag(0);
      // A live process reconciles a single post by itself; a thread is reconciled when it resumes.
      const single = acts.findIndex(({ tool }) => tool === 'x_post_tweet');
      const made = commitsOf(acts[single]!, x, after)[0]?.[0];
      const asked = { operation_id: operationOf(first[single]) };
      const found = await vi.waitUntil(
        async () => {
          const { data } = await server.call('get_operation', asked);
          return (data as { state?: string } | null)?.state === 'unknown' ? undefined : data;
        },
        { timeout: 30_000, interval: 50 },
      );
      expect(found).toMatchObject({
        state: 'reconciled',
        outcome: 'executed',
        answer: { data: acts[single]!.data([made!]) },
      });
      const third = await ask(next);
      const fourth = await ask(server);
      expect(cellsOf(acts, x, after, third, fourth)).toEqual(
        acts.map((act) => done(act, 'with a key', ['ok', 'ok'])),
      );
    },
    2 * PATIENCE_MS,
  );

  it(
    'a thread resumes after the part that was shown late',
    async () => {
      const { x, server, another, acts: prepare } = await stage({}, watchful);
      const acts = (await prepare('one')).filter(({ tool }) => tool === 'x_post_thread');
      const [thread] = acts as [(typeof acts)[number]];
      const after = x.commits().length;
      x.setLag(AN_HOUR);
      x.setFaults([{ kind: 'acted-http-503', routes: ['create-post'], skip: 1, times: 1 }]);
      const first = await settledCall(server, thread.tool, thread.args);
      const made = commitsOf(thread, x, after).flat();
      expect(made).toHaveLength(2);
      expect(first).toMatchObject({
        data: { posted: [{ index: 0, id: 'id' in made[0]! && made[0].id }], unknown: { index: 1 } },
        error: {
          code: 'outcome_unknown',
          outcome: 'unknown',
          message: expect.stringMatching(/The same call reads it back/) as string,
        },
      });
      expect(first.error?.message).not.toContain('Do not repeat');
      const second = await settledCall(await another(), thread.tool, thread.args);
      expect(ending(second)).toBe(UNKNOWN);
      expect(commitsOf(thread, x, after).flat()).toHaveLength(2);
      x.setLag(0);
      const third = await settledCall(await another(), thread.tool, thread.args);
      const asked = { operation_id: operationOf(first) };
      expect(await server.call('get_operation', asked)).toMatchObject({
        data: { state: 'succeeded', outcome: 'executed' },
      });
      const fourth = await settledCall(server, thread.tool, thread.args);
      expect(cellsOf(acts, x, after, [third], [fourth])).toEqual([
        done(thread, 'without a key', ['ok', 'ok']),
      ]);
    },
    PATIENCE_MS,
  );
});

describe.concurrent('a post that never reached X', () => {
  it.each(['close-before-read', 'http-503'] as const)(
    'is never resent and stays unknown: %s',
    async (kind) => {
      const { x, server, another, acts: prepare } = await stage({}, brief);
      await server.call('x_get_me');
      const named = await Promise.all(
        namings.map(async (naming) => {
          const acts = (await prepare(naming)).filter(({ isPost }) => isPost);
          return { naming, acts };
        }),
      );
      const after = x.commits().length;
      const callEach = async (one = server) =>
        Promise.all(named.map(({ acts, naming }) => callAll(one, acts, naming)));
      x.setFaults(everywhere({ kind }));
      const first = await callEach();
      const sent = x.log({ route: 'create-post' }).length;
      x.setFaults([]);
      const [second, third] = await Promise.all([callEach(), callEach(await another())]);
      for (const [at, { acts }] of named.entries()) {
        expect(cellsOf(acts, x, after, first[at]!, second[at]!, third[at]!)).toEqual(
          acts.map((act) => undone(act, Array(3).fill('outcome_unknown unknown'))),
        );
      }
      expect(x.log({ route: 'create-post' })).toHaveLength(sent);
    },
    2 * PATIENCE_MS,
  );
});
