import type { FaultRule } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { callAll, cellsOf, done, everywhere, namings, undone } from '../support/cells.js';
import { PATIENCE_MS } from '../support/patience.js';
import { useStage } from '../support/stage.js';

const stage = useStage();

/** What X does not get to, though nobody on our side can know that. */
const lost: readonly (readonly [string, FaultRule])[] = [
  ['close before read', { kind: 'close-before-read' }],
  ['503 before anything was done', { kind: 'http-503' }],
];

describe('refuse', () => {
  it.each(namings)(
    'was surely not sent, and is done when X is back, %s',
    async (naming) => {
      const { x, another, acts: prepare } = await stage();
      const acts = await prepare('one');
      const after = x.commits().length;
      await x.setReachable(false);
      const rounds = [];
      // Each with a server of its own: so many failures would open its circuit, and hide their cause.
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
    'what may be repeated is repeated at once, %s',
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
