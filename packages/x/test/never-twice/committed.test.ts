import type { FaultRule } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../support/closing.js';
import {
  callAll,
  cellsOf,
  done,
  everywhere,
  type Naming,
  namings,
  undone,
  useStage,
} from '../support/stage.js';

const stage = useStage();

/** Faults after X has executed the request. */
const acted: readonly (readonly [string, FaultRule])[] = [
  ['commit then close', { kind: 'close-after-read' }],
  ['commit then reset', { kind: 'reset-after-read' }],
  ['commit then 503', { kind: 'acted-http-503' }],
  ['commit then hang', { kind: 'acted-stall' }],
  ['half body', { kind: 'half-body' }],
  ['201 with garbage', { kind: 'garbage' }],
];

describe.each(acted)('%s', (name, rule) => {
  it(
    'an executed operation is found at once and not repeated, with and without a key',
    // Both at once, because they mostly wait.
    async () => {
      await expect(Promise.all(namings.map(expectKnown))).resolves.toHaveLength(2);
    },
    PATIENCE_MS,
  );

  const expectKnown = async (naming: Naming): Promise<void> => {
    const attemptTimeoutSecs = name === 'commit then hang' ? 1.5 : 5;
    const {
      x,
      server,
      another,
      acts: prepare,
    } = await stage({
      attemptTimeoutSecs,
      toolTimeoutSecs: 20,
    });
    const acts = await prepare('one');
    const after = x.commits().length;
    // Only stalls would open the circuit and hide the outcomes.
    await Promise.all(Array.from({ length: 10 }, () => server.call('x_get_me')));
    x.setFaults(everywhere(rule));
    const first = await callAll(server, acts, naming);
    x.setFaults([]);
    const second = await callAll(server, acts, naming);
    const third = await callAll(await another(), acts, naming);
    expect({ naming, cells: cellsOf(acts, x, after, first, second, third) }).toEqual({
      naming,
      cells: acts.map((act) => done(act, naming, ['ok', 'ok', 'ok'])),
    });
  };
});

it.each([-2, 2])(
  'is found though the clocks are %i hours apart',
  async (hours) => {
    const startAt = Date.now() + hours * 3_600_000;
    const { x, server, acts: prepare } = await stage({}, { sandbox: { startAt } });
    const acts = (await prepare('one')).filter(({ isPost }) => isPost);
    const after = x.commits().length;
    x.setFaults(everywhere({ kind: 'reset-after-read' }));
    const first = await callAll(server, acts, 'without a key');
    expect(cellsOf(acts, x, after, first)).toEqual(
      acts.map((act) => done(act, 'without a key', ['ok'])),
    );
  },
  PATIENCE_MS,
);

it(
  'a long post is found, of which X shows the beginning first',
  async () => {
    const maxPostLength = 4_000;
    const { x, server } = await stage({ maxPostLength }, { sandbox: { maxPostLength } });
    const text = `${'Terns & gulls <over> the pier. '.repeat(40)}https://example.com/a?b=1&c=2`;
    x.setFaults(everywhere({ kind: 'acted-http-503' }));
    const answer = await server.call('x_post_tweet', { text });
    const made = x.commits({ kind: 'post.created' });
    expect(made).toHaveLength(1);
    expect(answer).toMatchObject({ success: true, data: { id: 'id' in made[0]! && made[0].id } });
  },
  PATIENCE_MS,
);

/** Faults before X executes the request, which the client cannot know. */
const lost: readonly (readonly [string, FaultRule])[] = [
  ['close before read', { kind: 'close-before-read' }],
  ['503 before anything was done', { kind: 'http-503' }],
];

describe('refuse', () => {
  it.each(namings)(
    'has the outcome not_executed, and is executed when X is back, %s',
    async (naming) => {
      const { x, another, acts: prepare } = await stage();
      const acts = await prepare('one');
      const after = x.commits().length;
      await x.setReachable(false);
      const rounds = [];
      // A server for each, because the failures would open its circuit.
      for (const server of [await another({ maxRetries: 0 }), await another({ maxRetries: 0 })]) {
        rounds.push(await callAll(server, acts, naming));
      }
      expect(cellsOf(acts, x, after, ...rounds)).toEqual(
        acts.map((act) =>
          undone(act, ['x_network_error not_executed', 'x_network_error not_executed']),
        ),
      );
      await x.setReachable(true);
      const server = await another();
      const back = await callAll(server, acts, naming);
      const again = await callAll(server, acts, naming);
      expect(cellsOf(acts, x, after, back, again)).toEqual(
        acts.map((act) => done(act, naming, ['ok', 'ok'])),
      );
    },
    PATIENCE_MS,
  );
});

describe.each(lost)('%s', (_, rule) => {
  it.each(namings)(
    'idempotent changes are retried at once, %s',
    async (naming) => {
      const { x, server, another, acts: prepare } = await stage();
      const acts = (await prepare('one')).filter(({ isPost }) => !isPost);
      const after = x.commits().length;
      x.setFaults(everywhere(rule));
      const first = await callAll(server, acts, naming);
      const second = await callAll(server, acts, naming);
      const third = await callAll(await another(), acts, naming);
      expect(cellsOf(acts, x, after, first, second, third)).toEqual(
        acts.map((act) => done(act, naming, ['ok', 'ok', 'ok'])),
      );
    },
    PATIENCE_MS,
  );
});
