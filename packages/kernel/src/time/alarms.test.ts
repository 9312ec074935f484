import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../testing/index.js';
import { Alarm, AlarmList, alarmsOf } from './alarms.js';

class Noted extends Alarm {
  readonly #note: (at: number) => void;
  constructor(note: (at: number) => void) {
    super();
    this.#note = note;
  }
  override ring(now: number): void {
    this.#note(now);
  }
}

describe('alarms', () => {
  it('ring at their time, in order, however they were set and cleared', async () => {
    const action = fc.record({
      dueMs: fc.integer({ min: 1, max: 500 }),
      list: fc.boolean(),
      cleared: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const clock = new VirtualClock();
        const alarms = alarmsOf(clock);
        const lists = new Map<number, AlarmList>();
        const listOf = (ms: number): AlarmList => {
          const list = lists.get(ms) ?? new AlarmList();
          lists.set(ms, list);
          return list;
        };
        const rung: [number, number][] = [];
        const expected: number[] = [];
        for (const { dueMs, list, cleared } of actions) {
          const alarm = new Noted((at) => rung.push([dueMs, at]));
          alarms.set(alarm, dueMs, list ? listOf(dueMs) : undefined);
          if (cleared) alarms.remove(alarm);
          else expected.push(dueMs);
        }
        await clock.drain();
        expect(rung.map(([due]) => due).toSorted((a, b) => a - b)).toEqual(
          expected.toSorted((a, b) => a - b),
        );
        for (const [due, at] of rung) expect(at).toBe(due);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('need one timer for all, and none soon after the last is cleared', async () => {
    const clock = new VirtualClock();
    const alarms = alarmsOf(clock);
    const list = new AlarmList();
    const many = Array.from({ length: 1000 }, () => new Noted(() => {}));
    for (const alarm of many) alarms.set(alarm, 10_000, list);
    expect(clock.pending).toBe(1);
    for (const alarm of many) alarms.remove(alarm);
    await clock.advance(50);
    expect(clock.pending).toBe(0);
  });

  it('may be set and cleared by an alarm that rings', async () => {
    const clock = new VirtualClock();
    const alarms = alarmsOf(clock);
    const rung: string[] = [];
    const victim = new Noted(() => rung.push('victim'));
    const next = new Noted(() => rung.push('next'));
    const first = new Noted((now) => {
      rung.push('first');
      alarms.remove(victim);
      alarms.set(next, now + 5);
    });
    alarms.set(first, 10);
    alarms.set(victim, 10);
    await clock.drain();
    expect(rung).toEqual(['first', 'next']);
  });

  it('can be removed twice', () => {
    const alarms = alarmsOf(new VirtualClock());
    const alarm = new Noted(() => {});
    alarms.set(alarm, 10);
    alarms.remove(alarm);
    expect(() => alarms.remove(alarm)).not.toThrow();
  });

  it('let go of a list that is empty, and take it up again', async () => {
    const clock = new VirtualClock();
    const alarms = alarmsOf(clock);
    const list = new AlarmList();
    for (let round = 0; round < 3; round++) {
      let rung = 0;
      alarms.set(new Noted(() => rung++), clock.now() + 30, list);
      expect(list.watched).toBe(true);
      await clock.drain();
      expect([rung, list.watched]).toEqual([1, false]);
    }
  });
});
