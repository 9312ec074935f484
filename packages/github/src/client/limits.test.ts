import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import { documentedPacing, gateOf, RateGate, type Cost, type Pacing } from './limits.js';

const EPOCH = 1_800_000_000_000;
const get: Cost = {
  resource: 'core',
  endpoint: 'GET /x',
  isMutation: false,
  createsContent: false,
};
const post: Cost = {
  resource: 'core',
  endpoint: 'POST /x',
  isMutation: true,
  createsContent: true,
};

function rig(pacing: Partial<Pacing> = {}) {
  const clock = new VirtualClock({ epoch: EPOCH });
  const gate = new RateGate();
  const controller = new AbortController();
  const options = {
    pacing: { ...documentedPacing, ...pacing },
    clock,
    signal: controller.signal,
    deadline: Number.POSITIVE_INFINITY,
  };
  const admit = (cost: Cost = get, more: object = {}) => gate.admit(cost, { ...options, ...more });
  /** Admits and ends requests one after the other; the virtual time of each. */
  const times = async (count: number, cost: Cost) => {
    const at: number[] = [];
    for (let done = 0; done < count; done += 1) {
      (await clock.run(admit(cost)))();
      at.push(clock.now());
    }
    return at;
  };
  const reset = (seconds: number): number => EPOCH / 1000 + seconds;
  return { clock, gate, controller, admit, times, reset };
}

const limited = (retryAfterMs: number) => ({
  fault: { kind: 'rate_limited', sent: 'no', retryAfterMs },
});

describe('the gate of a credential', () => {
  it('refuses at once while remaining is 0, until the reset', async () => {
    const { gate, admit, clock, reset } = rig();
    gate.record([{ limit: 60, remaining: 0, reset: reset(30), name: 'core' }], get);
    await expect(admit()).rejects.toMatchObject(limited(30_000));
    await expect(admit({ ...get, resource: 'search' })).resolves.toBeTypeOf('function');
    await clock.advance(30_000);
    await expect(admit()).resolves.toBeTypeOf('function');
  });

  it('counts requests in flight against what remains', async () => {
    const { gate, admit, reset } = rig({ threshold: 0 });
    gate.record([{ limit: 60, remaining: 2, reset: reset(30), name: 'core' }], get);
    const [first] = await Promise.all([admit(), admit()]);
    await expect(admit()).rejects.toMatchObject(limited(30_000));
    first?.();
    await expect(admit()).resolves.toBeTypeOf('function');
  });

  it('holds back every resource after a secondary limit, and one after a primary limit', async () => {
    const { gate, admit, clock } = rig();
    gate.block(5_000, clock);
    await expect(admit({ ...get, resource: 'search' })).rejects.toMatchObject(limited(5_000));
    await clock.advance(5_000);
    gate.block(20_000, clock, 'core');
    await expect(admit()).rejects.toMatchObject(limited(20_000));
    await expect(admit({ ...get, resource: 'search' })).resolves.toBeTypeOf('function');
  });

  it('waits 60, 120 and 240 s without any hint, and 60 s again after a success', () => {
    const { gate } = rig();
    const next = () => gate.nextSecondaryWait(0);
    expect([next(), next(), next(), next()]).toEqual([60_000, 120_000, 240_000, 240_000]);
    gate.recordSuccess();
    expect(next()).toBe(60_000);
  });

  it('keeps a second between mutations, and lets reads pass', async () => {
    const { times } = rig();
    expect(await times(4, post)).toEqual([0, 1000, 2000, 3000]);
    expect(await times(2, get)).toEqual([3000, 3000]);
  });

  it('does not hold back other mutations behind one that hangs', async () => {
    const { admit, clock } = rig();
    await admit(post);
    await clock.run(admit(post));
    expect(clock.now()).toBe(1_000);
  });

  it('refuses at once a mutation whose turn is after the deadline, and says why', async () => {
    const { admit, clock, gate } = rig();
    const at: number[] = [];
    const all = Array.from({ length: 60 }, async () => {
      await admit(post, { deadline: 55_000, signal: new AbortController().signal });
      at.push(clock.now());
    });
    const last = await all.at(-1)?.catch((cause: unknown) => cause);
    expect(clock.now()).toBe(0);
    expect(last).toMatchObject({
      fault: { ...limited(55_000).fault, cause: { setting: 'mutationIntervalMs' } },
    });
    expect(gate.status(clock).plannedUntil).toBe(EPOCH + 54_000);
    await clock.run(Promise.allSettled(all));
    expect(at).toEqual(Array.from({ length: 55 }, (_, index) => index * 1000));
  });

  it('needs no pause for a mutation that is not visible', async () => {
    const { times } = rig();
    const object = { ...post, createsContent: false, isUnseen: true };
    expect(await times(60, object)).toEqual(Array.from({ length: 60 }, () => 0));
    expect(await times(2, post)).toEqual([0, 1000]);
  });

  it('keeps its pace and its windows when the wall clock is set back or ahead', async () => {
    for (const jump of [-3_600_000, 3_600_000]) {
      const { admit, clock, gate, times } = rig();
      const jumped = Object.assign(Object.create(clock) as VirtualClock, {
        now: () => clock.now(),
        wallNow: () => clock.wallNow() + jump,
        setTimer: clock.setTimer.bind(clock),
        clearTimer: clock.clearTimer.bind(clock),
      });
      await times(1, post);
      await clock.run(admit(post, { clock: jumped }));
      expect(clock.now()).toBe(1000);
      gate.block(5_000, clock);
      await expect(admit(get, { clock: jumped })).rejects.toMatchObject(limited(5_000));
    }
  });

  it('keeps to the points of an endpoint and to the content creations', async () => {
    const { times } = rig({ pointsPerMinute: 3 });
    expect(await times(5, get)).toEqual([0, 0, 0, 60_000, 60_000]);
    const content = rig({ contentPerMinute: 2, contentPerHour: 3, mutationIntervalMs: 0 });
    expect(await content.times(5, post)).toEqual([0, 0, 60_000, 3_600_000, 3_600_000]);
  });

  it('allows no more concurrent requests than documented', async () => {
    const { admit, clock } = rig({ maxConcurrent: 2 });
    const [first] = await Promise.all([admit(), admit()]);
    let isAdmitted = false;
    void admit().then(() => (isAdmitted = true));
    await clock.advance(1_000);
    expect(isAdmitted).toBe(false);
    first?.();
    await clock.advance(0);
    expect(isAdmitted).toBe(true);
  });

  it('slows down below the threshold, and not above it', async () => {
    const { gate, times, reset } = rig();
    gate.record([{ limit: 60, remaining: 10, reset: reset(30), name: 'core' }], get);
    expect(await times(1, get)).toEqual([0]);
    gate.record([{ limit: 60, remaining: 9, reset: reset(30), name: 'core' }], get);
    expect(await times(1, get)).toEqual([3_000]);
  });

  it('returns a wait that does not fit the deadline at once', async () => {
    const { times, admit, clock } = rig({ pointsPerMinute: 1 });
    await times(1, get);
    await expect(admit(get, { deadline: 59_000 })).rejects.toMatchObject(limited(60_000));
    expect(clock.now()).toBe(0);
  });

  it('ends a wait when the caller aborts, and the next mutation still follows', async () => {
    const { times, admit, controller, clock } = rig();
    await times(1, post);
    const waiting = admit(post);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const { signal } = new AbortController();
    const next = await clock.run(admit(post, { signal }));
    expect([typeof next, clock.now()]).toEqual(['function', 1000]);
  });

  it('takes the lowest count of a window, because answers overtake each other', () => {
    const { gate, reset, clock } = rig();
    for (const remaining of [5, 3, 4]) {
      gate.record([{ limit: 60, remaining, reset: reset(30), name: 'core' }], get);
    }
    expect(gate.status(clock).budgets).toMatchObject([{ resource: 'core', remaining: 3 }]);
    gate.record([{ limit: 60, remaining: 60, reset: reset(3630), name: 'core' }], get);
    expect(gate.status(clock).budgets).toMatchObject([{ remaining: 60 }]);
  });

  it('keeps a resource closed when an answer that was in flight reports an older budget', async () => {
    const { gate, admit, reset, clock } = rig();
    gate.block(20_000, clock, 'core');
    gate.record([{ limit: 60, remaining: 7, reset: reset(3600), name: 'core' }], get);
    await expect(admit()).rejects.toMatchObject(limited(20_000));
  });

  it('holds back an endpoint that GitHub counts against another resource than expected', async () => {
    const { gate, admit, reset } = rig();
    const audit = { ...get, endpoint: 'GET /orgs/{org}/audit-log' };
    gate.record([{ limit: 60, remaining: 0, reset: reset(30), name: 'audit_log' }], audit);
    await expect(admit(audit)).rejects.toMatchObject(limited(30_000));
    await expect(admit()).resolves.toBeTypeOf('function');
  });

  it('counts requests that start together against the points', async () => {
    const { admit, clock } = rig({ pointsPerMinute: 3 });
    const at: number[] = [];
    const all = Array.from({ length: 7 }, async () => {
      const release = await admit();
      at.push(clock.now());
      release();
    });
    await clock.run(Promise.all(all));
    expect(at).toEqual([0, 0, 0, 60_000, 60_000, 60_000, 120_000]);
  });

  it('refuses at once what does not fit the deadline behind requests that wait', async () => {
    const { admit, clock } = rig({ pointsPerMinute: 1 });
    await admit();
    const waiting = admit();
    await expect(admit(get, { deadline: 100_000 })).rejects.toMatchObject(limited(120_000));
    expect(typeof (await clock.run(waiting))).toBe('function');
    expect(clock.now()).toBe(60_000);
  });

  it('gives the points of an aborted request back', async () => {
    const { admit, clock, controller } = rig({ pointsPerMinute: 1 });
    await admit();
    const waiting = admit();
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await clock.run(admit(get, { signal: new AbortController().signal }));
    expect(clock.now()).toBe(60_000);
  });

  it('wakes the next request when the first in the queue was aborted', async () => {
    const { admit, clock, controller } = rig({ maxConcurrent: 1 });
    const release = await admit();
    const aborted = admit();
    let isAdmitted = false;
    void admit(get, { signal: new AbortController().signal }).then(() => (isAdmitted = true));
    await clock.advance(0);
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    release();
    await clock.advance(0);
    expect(isAdmitted).toBe(true);
  });

  it('refuses all queued requests when a limit arrives', async () => {
    const { gate, admit, clock } = rig({ maxConcurrent: 1 });
    const release = await admit();
    const queued = Promise.allSettled([admit(), admit(), admit()]);
    await clock.advance(0);
    gate.block(5_000, clock);
    release();
    expect((await queued).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'rejected',
    ]);
  });

  it('takes limits of requests that were in flight together as one', () => {
    const { gate, clock } = rig();
    gate.block(gate.nextSecondaryWait(0), clock);
    expect(gate.nextSecondaryWait(100)).toBe(59_900);
    expect(gate.nextSecondaryWait(60_000)).toBe(120_000);
  });

  it('is one per host and credential in the process', () => {
    expect(gateOf('a.test', 'token:1')).toBe(gateOf('a.test', 'token:1'));
    expect(gateOf('b.test', 'token:1')).not.toBe(gateOf('a.test', 'token:1'));
    expect(gateOf('a.test', 'token:2')).not.toBe(gateOf('a.test', 'token:1'));
  });
});
