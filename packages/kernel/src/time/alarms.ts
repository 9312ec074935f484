import type { Clock, Timer } from './clock.js';

/**
 * Something that wants to be told when its time has come. A link of a ring: on its own when it is
 * not set, between its neighbours in a list when it is.
 */
export class Alarm {
  due = -Infinity;
  before: Alarm = this;
  after: Alarm = this;

  ring(_now: number): void {}
}

/**
 * The head of a ring of alarms. It is due before all of them, so that every search ends at it.
 * Alarms that are always set the same time ahead should share one: a new one then belongs at the
 * end, and nothing has to be searched.
 */
export class AlarmList extends Alarm {
  /** Whether the timer looks at it. */
  watched = false;
}

/** While alarms are set, the timer is looked at this often, so that it never outlives them for long. */
const TICK_MS = 50;

/**
 * Many alarms on one timer.
 *
 * A timer for each call costs more than all the rest of a guarded call. Here setting and clearing
 * an alarm is a few pointer writes; one timer is armed for the earliest of them or for the next
 * tick. A tick that finds nothing left lets the timer go: an idle process holds none, and the last
 * call delays the process's exit by a tick at most.
 */
export class Alarms {
  readonly #clock: Clock;
  /** The lists that had alarms when the timer last looked. */
  readonly #watched = new Set<AlarmList>();
  readonly #odd = new AlarmList();
  #timer: Timer = undefined;
  #armedFor = Infinity;
  readonly #onTimer = (): void => this.#wake();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets an alarm. Cheap where it belongs at the end, as in a list of alarms of one length. */
  set(alarm: Alarm, due: number, list: AlarmList = this.#odd): void {
    let { before } = list;
    while (before.due > due) before = before.before;
    alarm.due = due;
    alarm.before = before;
    alarm.after = before.after;
    alarm.after.before = alarm;
    before.after = alarm;
    if (!list.watched) this.#watch(list);
    if (due < this.#armedFor) this.#arm(due);
  }

  /** Takes an alarm out; harmless if it is not set. */
  remove(alarm: Alarm): void {
    alarm.before.after = alarm.after;
    alarm.after.before = alarm.before;
    alarm.before = alarm;
    alarm.after = alarm;
  }

  #watch(list: AlarmList): void {
    list.watched = true;
    this.#watched.add(list);
  }

  #arm(due: number): void {
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
    const now = this.#clock.now();
    const at = Math.min(due, now + TICK_MS);
    this.#armedFor = at;
    this.#timer = this.#clock.setTimer(Math.max(1, at - now), this.#onTimer);
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
