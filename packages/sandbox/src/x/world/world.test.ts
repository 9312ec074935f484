import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stillClock } from '../clock.fixture.js';
import { createRelation } from './world.js';
import {
  compareIds,
  createSnowflakes,
  createVisibility,
  type Lifecycle,
  snowflakeAt,
} from './records.js';

describe('ids', () => {
  test('increase with time, and are as long as X’s', () => {
    const time = fc.integer({ min: Date.UTC(2012, 0), max: Date.UTC(2040, 0) });
    fc.assert(
      fc.property(time, time, (a, b) => {
        expect(Math.sign(compareIds(snowflakeAt(a), snowflakeAt(b)))).toBe(Math.sign(a - b));
        expect(snowflakeAt(a)).toMatch(/^\d{17,19}$/);
      }),
    );
    // From a response of X with a known time.
    expect(snowflakeAt(Date.UTC(2026, 5, 22, 16, 35, 50, 162))).toBe('2069097036665323520');
  });

  test('are unique, also if the clock stands still or goes back', () => {
    const steps = fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 300 });
    fc.assert(
      fc.property(steps, (moves) => {
        let now = Date.UTC(2026, 0);
        const next = createSnowflakes(() => now);
        const ids = moves.map((move) => {
          now += move;
          return next();
        });
        expect(ids).toEqual(ids.toSorted(compareIds));
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });
});

describe('visibility to reads', () => {
  test('begins after the shorter of the lag then and now', () => {
    const span = fc.nat(100);
    fc.assert(
      fc.property(span, span, span, (then, now, passed) => {
        const clock = stillClock();
        const visibility = createVisibility(clock);
        visibility.setLag(then);
        const lived: Lifecycle = { created: visibility.commitTime() };
        visibility.setLag(now);
        clock.advance(passed);
        expect(visibility.shows(lived)).toBe(passed >= Math.min(then, now));
      }),
    );
  });

  test('ends when the deletion is visible', () => {
    const clock = stillClock();
    const visibility = createVisibility(clock);
    visibility.setLag(10);
    const lived: Lifecycle = { created: visibility.commitTime() };
    clock.advance(10);
    lived.deleted = visibility.commitTime();
    expect(visibility.shows(lived)).toBe(true);
    clock.advance(10);
    expect(visibility.shows(lived)).toBe(false);
  });
});

test('a relation contains the edges that were added and not removed', () => {
  const step = fc.tuple(fc.boolean(), fc.constantFrom('a', 'b'), fc.constantFrom('x', 'y', 'z'));
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const visibility = createVisibility(stillClock());
      const relation = createRelation(visibility);
      const model = new Set<string>();
      for (const [at, [isAdding, from, to]] of steps.entries()) {
        if (isAdding && !relation.holds(from, to))
          relation.add(from, to, String(at + 1), visibility.commitTime());
        if (!isAdding) relation.remove(from, to, visibility.commitTime());
        if (isAdding) model.add(from + to);
        else model.delete(from + to);
      }
      for (const from of ['a', 'b']) {
        const shown = relation.of(from);
        expect(new Set(shown.map(({ to }) => from + to))).toEqual(
          new Set([...model].filter((key) => key.startsWith(from))),
        );
        expect(shown).toEqual(shown.toSorted((one, other) => compareIds(other.id, one.id)));
      }
      expect(
        relation
          .to('x')
          .map(({ from }) => from)
          .toSorted(),
      ).toEqual(['a', 'b'].filter((from) => model.has(`${from}x`)));
    }),
  );
});
