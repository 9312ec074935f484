import type { Clock, Timer } from './clock.js';

/** Something that wants to be told when its time has come. Lives in at most one list at a time. */
export abstract class Alarm {
  due = Number.POSITIVE_INFINITY;
  list: AlarmList | undefined = undefined;
  before: Alarm | undefined = undefined;
  after: Alarm | undefined = undefined;
  abstract ring(now: number): void;
}

/** Alarms of one length, so that a new one always belongs at the end. */
export class AlarmList {
  first: Alarm | undefined = undefined;
  last: Alarm | undefined = undefined;
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
  readonly #lists = new Map<number, AlarmList>();
  readonly #odd = new AlarmList();
  #timer: Timer = undefined;
  #armedFor = Number.POSITIVE_INFINITY;
  readonly #onTimer = (): void => this.#wake();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The list for alarms that are always set `lengthMs` ahead. Ask once, keep it. */
  listFor(lengthMs: number): AlarmList {
    let list = this.#lists.get(lengthMs);
    if (!list) this.#lists.set(lengthMs, (list = new AlarmList()));
    return list;
  }

  /** Sets an alarm at the end of a list whose alarms all have one length. */
  append(alarm: Alarm, due: number, list: AlarmList): void {
    alarm.due = due;
    alarm.list = list;
    const last = list.last;
    alarm.before = last;
    if (last === undefined) list.first = alarm;
    else last.after = alarm;
    list.last = alarm;
    if (due < this.#armedFor) this.#arm(due);
  }

  /** Sets an alarm of any length, where order has to be found. */
  insert(alarm: Alarm, due: number): void {
    const list = this.#odd;
    let before = list.last;
    while (before !== undefined && before.due > due) before = before.before;
    alarm.due = due;
    alarm.list = list;
    alarm.before = before;
    alarm.after = before === undefined ? list.first : before.after;
    if (alarm.after === undefined) list.last = alarm;
    else alarm.after.before = alarm;
    if (before === undefined) list.first = alarm;
    else before.after = alarm;
    if (due < this.#armedFor) this.#arm(due);
  }

  /** Takes an alarm out; harmless if it is not set. */
  remove(alarm: Alarm): void {
    const list = alarm.list;
    if (list === undefined) return;
    const { before, after } = alarm;
    if (before === undefined) list.first = after;
    else before.after = after;
    if (after === undefined) list.last = before;
    else after.before = before;
    alarm.list = undefined;
    alarm.before = undefined;
    alarm.after = undefined;
  }

  #arm(due: number): void {
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
    const now = this.#clock.now();
    const at = Math.min(due, now + TICK_MS);
    this.#armedFor = at;
    // Rounded up: a timer that wakes early would only have to be set again.
    this.#timer = this.#clock.setTimer(Math.max(1, Math.ceil(at - now)), this.#onTimer);
  }

  #wake(): void {
    this.#timer = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    let next = this.#ringDue(this.#odd, now);
    for (const list of this.#lists.values()) next = Math.min(next, this.#ringDue(list, now));
    if (next < this.#armedFor) this.#arm(next);
  }

  /** Rings what is due in one list and says when the next of it is. */
  #ringDue(list: AlarmList, now: number): number {
    for (;;) {
      const alarm = list.first;
      if (alarm === undefined) return Number.POSITIVE_INFINITY;
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
