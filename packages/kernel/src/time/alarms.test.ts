import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../testing/index.js';
import { Alarm, alarmsOf, type AlarmList } from './alarms.js';

class Noted extends Alarm {
  readonly #note: (at: number) => void;
  constructor(note: (at: number) => void) {
    super();
    this.#note = note;
  }
  override onDue(now: number): void {
    this.#note(now);
  }
}

describe('alarms', () => {
  it('fire on time, however they were set, moved and cleared', async () => {
    const action = fc.record({
      dueMs: fc.integer({ min: 1, max: 500 }),
      list: fc.boolean(),
      then: fc.constantFrom('stay', 'clear', 'move'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const clock = new VirtualClock();
        const alarms = alarmsOf(clock);
        const lists = new Map<number, AlarmList>();
        const rung: [number, number][] = [];
        const expected: number[] = [];
        for (const { dueMs, list, then } of actions) {
          let due = dueMs;
          const alarm = new Noted((at) => rung.push([due, at]));
          if (list) {
            lists.set(dueMs, lists.get(dueMs) ?? new Alarm());
            alarms.append(alarm, 0, dueMs, lists.get(dueMs)!);
          } else alarms.set(alarm, dueMs);
          if (then === 'clear') alarms.remove(alarm);
          if (then === 'move') alarms.set(alarm, (due = dueMs + 7));
          if (then !== 'clear') expected.push(due);
        }
        await clock.drain();
        const inOrder = (numbers: number[]): number[] => numbers.toSorted((a, b) => a - b);
        expect(inOrder(rung.map(([due]) => due))).toEqual(inOrder(expected));
        for (const [due, at] of rung) expect(at).toBe(due);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it('share one timer, which is released after the last alarm', async () => {
    const clock = new VirtualClock();
    const alarms = alarmsOf(clock);
    const list = new Alarm();
    const many = Array.from({ length: 1000 }, () => new Noted(() => {}));
    for (const alarm of many) alarms.append(alarm, 0, 10_000, list);
    expect(clock.pending).toBe(1);
    for (const alarm of many) alarms.remove(alarm);
    await clock.advance(50);
    expect(clock.pending).toBe(0);
  });

  it('may be set and cleared by an alarm that fires', async () => {
    const clock = new VirtualClock();
    const alarms = alarmsOf(clock);
    const list = new Alarm();
    const rung: string[] = [];
    const victim = new Noted(() => rung.push('victim'));
    const next = new Noted(() => rung.push('next'));
    const first = new Noted((now) => {
      rung.push('first');
      alarms.remove(victim);
      alarms.set(next, now + 5);
    });
    alarms.append(first, 0, 10, list);
    alarms.append(victim, 0, 10, list);
    await clock.drain();
    expect(rung).toEqual(['first', 'next']);
  });

  it('can be removed twice, and set to Infinity', () => {
    const clock = new VirtualClock();
    const alarms = alarmsOf(clock);
    const alarm = new Noted(() => {});
    alarms.set(alarm, 10);
    alarms.remove(alarm);
    alarms.remove(alarm);
    alarms.set(alarm, Infinity);
    expect(clock.pending).toBe(0);
  });

  it('release an empty list and watch it again later', async () => {
    const clock = new VirtualClock();
    const alarms = alarmsOf(clock);
    const list = new Alarm();
    for (let round = 0; round < 3; round++) {
      let rung = 0;
      alarms.append(new Noted(() => rung++), clock.now(), 30, list);
      expect(list.watched).toBe(true);
      await clock.drain();
      expect([rung, list.watched]).toEqual([1, false]);
    }
  });
});
