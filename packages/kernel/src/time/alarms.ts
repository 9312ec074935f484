import type { Clock, Timer } from './clock.js';

/**
 * Something that wants to be told when its time has come. A link of a ring: on its own when it is
 * not set, between its neighbours in a list when it is.
 */
export class Alarm {
  due = Infinity;
  before: Alarm = this;
  after: Alarm = this;
  timer: Timer = undefined;
  /** Of a list: whether the shared timer looks at it. */
  watched = false;

  ring(_now: number): void {}
}

/** The head of a ring of alarms that are always set the same time ahead, so that they stay in order. */
export type AlarmList = Alarm;

/** While alarms are set, the timer is looked at this often, so that it never outlives them for long. */
const TICK_MS = 50;

/**
 * Many alarms on one timer.
 *
 * A timer for each call costs more than all the rest of a guarded call. Here setting and clearing
 * an alarm is a few pointer writes; one timer is armed for the earliest of them or for the next
 * tick. A tick that finds nothing left lets the timer go: an idle process holds none, and the last
 * call delays the process's exit by a tick at most. An alarm that belongs to no list, because its
 * caller brought a deadline or an attempt is not the first, gets a timer of its own.
 */
export class Alarms {
  readonly #clock: Clock;
  /** The lists that had alarms when the timer last looked. */
  readonly #watched = new Set<AlarmList>();
  #timer: Timer = undefined;
  #armedFor = Infinity;
  readonly #onTimer = (): void => this.#wake();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets an alarm that is not set, at the end of a list. */
  append(alarm: Alarm, due: number, list: AlarmList): void {
    alarm.due = due;
    alarm.before = list.before;
    alarm.after = list;
    list.before.after = alarm;
    list.before = alarm;
    if (!list.watched) {
      list.watched = true;
      this.#watched.add(list);
    }
    if (due < this.#armedFor) this.#arm(due);
  }

  /** Sets an alarm anew, to any time. */
  set(alarm: Alarm, due: number): void {
    this.remove(alarm);
    if (due === Infinity) return;
    const clock = this.#clock;
    alarm.timer = clock.setTimer(due - clock.now(), () => {
      alarm.timer = undefined;
      alarm.ring(clock.now());
    });
  }

  /** Takes an alarm out; harmless if it is not set. */
  remove(alarm: Alarm): void {
    if (alarm.timer !== undefined) {
      this.#clock.clearTimer(alarm.timer);
      alarm.timer = undefined;
    }
    alarm.before.after = alarm.after;
    alarm.after.before = alarm.before;
    alarm.before = alarm;
    alarm.after = alarm;
  }

  #arm(due: number): void {
    const clock = this.#clock;
    if (this.#timer !== undefined) clock.clearTimer(this.#timer);
    const now = clock.now();
    this.#armedFor = Math.min(due, now + TICK_MS);
    this.#timer = clock.setTimer(Math.max(1, this.#armedFor - now), this.#onTimer);
  }

  #wake(): void {
    this.#timer = undefined;
    this.#armedFor = Infinity;
    const now = this.#clock.now();
    let next = Infinity;
    for (const list of this.#watched) next = Math.min(next, this.#ringDue(list, now));
    if (next < this.#armedFor) this.#arm(next);
  }

  /** Rings what is due in one list and says when the next of it is. */
  #ringDue(list: AlarmList, now: number): number {
    for (;;) {
      const alarm = list.after;
      if (alarm === list) {
        // A list belongs to whoever made it; an empty one must not be kept alive from here.
        list.watched = false;
        this.#watched.delete(list);
        return Infinity;
      }
      if (alarm.due > now) return alarm.due;
      this.remove(alarm);
      alarm.ring(now);
    }
  }
}

const shared = new WeakMap<Clock, Alarms>();

/** The alarms of a clock: one timer serves every pipeline on it. */
export function alarmsOf(clock: Clock): Alarms {
  let alarms = shared.get(clock);
  if (!alarms) shared.set(clock, (alarms = new Alarms(clock)));
  return alarms;
}
