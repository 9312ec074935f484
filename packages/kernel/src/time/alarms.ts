import type { Clock, Timer } from './clock.js';

/**
 * A timeout, and a node of a circular doubly linked list. An alarm that is not set links to itself.
 */
export class Alarm {
  due = Infinity;
  prev: Alarm = this;
  next: Alarm = this;
  timer: Timer = undefined;
  /** For the head of a list: whether the shared timer checks the list. */
  watched = false;

  onDue(_now: number): void {}
}

/** The head of a list of alarms with the same delay, which keeps them in order of their due time. */
export type AlarmList = Alarm;

/** The shared timer fires at least this often, so that it does not outlive its alarms for long. */
const TICK_MS = 50;

/**
 * Many alarms on one timer.
 *
 * A timer per call costs more than the rest of the call. Setting and clearing an alarm of a list takes
 * a few pointer writes; one timer is armed for the earliest alarm or the next tick. A tick that finds
 * no alarm does not re-arm the timer, so an idle process holds none and exits at most one tick late.
 * An alarm outside a list (a caller's deadline, a later attempt) uses a timer of its own.
 */
export class Alarms {
  readonly #clock: Clock;
  /** The lists that had alarms at the last tick. */
  readonly #watched = new Set<AlarmList>();
  #timer: Timer;
  #armedFor = Infinity;
  readonly #onTimer = (): void => this.#wake();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Appends an alarm that is not set to a list whose alarms all have this delay. */
  append(alarm: Alarm, now: number, delayMs: number, list: AlarmList): void {
    const due = now + delayMs;
    alarm.due = due;
    alarm.prev = list.prev;
    alarm.next = list;
    list.prev.next = alarm;
    list.prev = alarm;
    if (!list.watched) {
      list.watched = true;
      this.#watched.add(list);
    }
    // An overdue timer was lost: fake timers of a test replaced it. Without a new one no alarm would fire again.
    if (due < this.#armedFor || this.#armedFor + TICK_MS < now) this.#arm(due);
  }

  /** Sets an alarm to any time, with a timer of its own. */
  set(alarm: Alarm, due: number): void {
    this.remove(alarm);
    if (due === Infinity) return;
    const clock = this.#clock;
    alarm.timer = clock.setTimer(due - clock.now(), () => {
      alarm.timer = undefined;
      alarm.onDue(clock.now());
    });
  }

  /** Clears an alarm, if it is set. */
  remove(alarm: Alarm): void {
    if (alarm.timer !== undefined) {
      this.#clock.clearTimer(alarm.timer);
      alarm.timer = undefined;
    }
    alarm.prev.next = alarm.next;
    alarm.next.prev = alarm.prev;
    alarm.prev = alarm;
    alarm.next = alarm;
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
    for (const list of this.#watched) next = Math.min(next, this.#fireDue(list, now));
    if (next < this.#armedFor) this.#arm(next);
  }

  /** Fires the due alarms of a list and returns the time of its next one. */
  #fireDue(list: AlarmList, now: number): number {
    for (;;) {
      const alarm = list.next;
      if (alarm === list) {
        // A list belongs to its plan; an empty one is released, so that the plan can be collected.
        list.watched = false;
        this.#watched.delete(list);
        return Infinity;
      }
      if (alarm.due > now) return alarm.due;
      this.remove(alarm);
      alarm.onDue(now);
    }
  }
}

const shared = new WeakMap<Clock, Alarms>();

/** The alarms of a clock: all its pipelines share one timer. */
export function alarmsOf(clock: Clock): Alarms {
  let alarms = shared.get(clock);
  if (!alarms) shared.set(clock, (alarms = new Alarms(clock)));
  return alarms;
}
