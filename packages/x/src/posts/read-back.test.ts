import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import type { Client } from '../api/client.js';
import type { Post } from '../api/model.js';
import type { SocialReadProvider } from '../api/provider.js';
import type { Claims } from './claims.js';
import { absenceOf, readBack } from './read-back.js';

const draft = { text: 'the same' };

interface Shown {
  readonly id: string;
  readonly text?: string;
  /** On X's clock, from when it was sent. */
  readonly madeAfterMs: number;
  /** From when it can be seen. */
  readonly shownAfterMs?: number;
}

/** X with a few posts of ours, and a clock that may differ from our own. */
function rig(
  posts: readonly Shown[],
  {
    aheadMs = 0,
    laterMs = 0,
    pageSize = 100,
    authoritativeAfterSecs = 0,
    leftOut = 0,
    knowsClock = true,
  } = {},
) {
  const clock = new VirtualClock();
  const started = clock.now();
  let isClockKnown = knowsClock;
  const sentAt = clock.wallNow() - laterMs;
  const asked: {
    readonly startTime?: string | undefined;
    readonly endTime?: string | undefined;
  }[] = [];
  const shown = (): Post[] =>
    posts
      .filter(({ shownAfterMs = 0 }) => clock.now() - started + laterMs >= shownAfterMs)
      .map(({ id, text = draft.text, madeAfterMs }) => ({
        id,
        text,
        ...(!Number.isNaN(madeAfterMs) && {
          created_at: new Date(
            Math.floor((sentAt + aheadMs + madeAfterMs) / 1000) * 1000,
          ).toISOString(),
        }),
      }));
  const getUserPosts: SocialReadProvider['getUserPosts'] = async (query) => {
    asked.push(query);
    isClockKnown = true;
    const from = Number(query.paginationToken ?? 0);
    const all = shown().filter(
      (post) => !(Date.parse(post.created_at ?? '') < Date.parse(query.startTime ?? '')),
    );
    const nextToken = from + pageSize < all.length ? String(from + pageSize) : undefined;
    const partialErrors = Array.from({ length: leftOut }, () => ({ reason: 'r', message: 'm' }));
    return { items: all.slice(from, from + pageSize), nextToken, partialErrors, limits: [] };
  };
  const client = {
    clock,
    provider: { getUserPosts },
    config: authoritativeAfterSecs > 0 ? { reconcile: { authoritativeAfterSecs } } : {},
    account: { userId: async () => '1' },
    session: {
      get upstreamNow() {
        return clock.wallNow() + (isClockKnown ? aheadMs : 0);
      },
    },
  } as unknown as Client;
  const call = (ms: number) => ({
    deadline: clock.now() + ms,
    signal: new AbortController().signal,
    correlationId: 'c',
    noteRetry: () => undefined,
    send: () => Promise.reject(new Error('a look sends nothing')),
  });
  return {
    asked,
    clock,
    look: (ms = 60_000, claims: () => Claims = () => ({ owned: new Set(), competing: [] })) =>
      clock.run(readBack(client, draft, sentAt, call(ms), async () => claims())),
  };
}

describe('looking for a post that nobody knows the end of', () => {
  it('finds it', async () => {
    const { look } = rig([
      { id: '9', text: 'another', madeAfterMs: 300 },
      { id: '8', madeAfterMs: 200 },
    ]);
    expect(await look()).toEqual({ found: 'executed', data: { id: '8', text: 'the same' } });
  });

  it.each([
    ['older', -60_000],
    ['later than any request lives', 180_000],
  ])('does not take one for it that is %s', async (_, madeAfterMs) => {
    const { look } = rig([{ id: '8', madeAfterMs }], { laterMs: 600_000 });
    expect(await look()).toEqual({ found: 'absent' });
  });

  it('goes by X’s clock', async () => {
    for (const aheadMs of [-3_600_000, -900, 900, 3_600_000]) {
      const { look } = rig([{ id: '8', madeAfterMs: 100 }], { aheadMs });
      expect(await look()).toMatchObject({ found: 'executed' });
    }
  });

  it('does not choose between two that look alike', async () => {
    const { look } = rig([
      { id: '8', madeAfterMs: 100 },
      { id: '9', madeAfterMs: 4_000 },
    ]);
    expect(await look()).toEqual({ found: 'unknown' });
  });

  it('waits for the answer to an equal one that is only slow', async () => {
    const { look, clock } = rig([
      { id: '8', madeAfterMs: 100 },
      { id: '9', madeAfterMs: 200 },
    ]);
    const slow = () =>
      clock.now() < 2_000
        ? { owned: new Set<string>(), competing: [{ ...draft, openSince: 0 }] }
        : { owned: new Set(['9']), competing: [] };
    expect(await look(60_000, slow)).toMatchObject({ data: { id: '8' } });
  });

  it('leaves out what another made, and takes its own for its own', async () => {
    const { look } = rig([
      { id: '8', madeAfterMs: 100 },
      { id: '9', madeAfterMs: 4_000 },
    ]);
    const owned = (...ids: string[]) => ({ owned: new Set(ids), competing: [] });
    expect(await look(60_000, () => owned('8'))).toMatchObject({ data: { id: '9' } });
    expect(await look(60_000, () => owned('8', '9'))).toEqual({ found: 'absent' });
  });

  it('takes nothing that may be another’s as long as nobody knows', async () => {
    const { look, clock } = rig([{ id: '8', madeAfterMs: 100 }]);
    const rival = (text: string) => ({
      owned: new Set<string>(),
      competing: [{ text, openSince: clock.wallNow() }],
    });
    expect(await look(60_000, () => rival('the same'))).toEqual({ found: 'unknown' });
    expect(await look(60_000, () => rival('another'))).toMatchObject({ found: 'executed' });
    let asked = 0;
    const settling = () => (++asked > 2 ? rival('another') : rival('the same'));
    expect(await look(60_000, settling)).toMatchObject({ found: 'executed' });
  });

  it('knows the millisecond in which X made an id', async () => {
    const idAt = (ms: number) => String((BigInt(ms) - 1_288_834_974_657n) << 22n);
    for (const [madeAfterMs, found] of [
      [-4_000, 'absent'],
      [-500, 'executed'],
      [100, 'executed'],
    ] as const) {
      const aheadMs = 1_700_000_000_000;
      const id = idAt(new VirtualClock().wallNow() + aheadMs + madeAfterMs);
      expect(await rig([{ id, madeAfterMs }], { aheadMs }).look()).toMatchObject({ found });
    }
  });

  it('looks again while X may be late, ever more slowly, and then gives up', async () => {
    const late = rig([{ id: '8', madeAfterMs: 100, shownAfterMs: 5_000 }]);
    expect(await late.look()).toMatchObject({ found: 'executed' });
    const never = rig([]);
    expect(await never.look()).toEqual({ found: 'absent' });
    expect(never.clock.now()).toBeLessThanOrEqual(8_000);
    expect(never.asked.length).toBeLessThan(10);
    const hurried = rig([]);
    await hurried.look(1_000);
    expect(hurried.clock.now()).toBeLessThan(1_000);
  });

  it('looks once for one that is long past, and says until when', async () => {
    const { look, asked } = rig([{ id: '8', madeAfterMs: 100 }], { laterMs: 86_400_000 });
    expect(await look()).toMatchObject({ found: 'executed' });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.endTime).toMatch(/^\d{4}-.*Z$/);
    const fresh = rig([{ id: '8', madeAfterMs: 100 }]);
    await fresh.look();
    // X refuses an end that is not past.
    expect(fresh.asked[0]?.endTime).toBeUndefined();
  });

  it('turns a few pages, and no more', async () => {
    const others = Array.from({ length: 5 }, (_, index) => ({
      id: String(100 + index),
      text: 'another',
      madeAfterMs: 200,
    }));
    const near = rig([...others.slice(0, 2), { id: '8', madeAfterMs: 100 }], { pageSize: 1 });
    expect(await near.look()).toMatchObject({ found: 'executed' });
    const far = rig([...others, { id: '8', madeAfterMs: 100 }], { pageSize: 1, laterMs: 600_000 });
    expect(await far.look()).toEqual({ found: 'absent' });
    expect(far.asked).toHaveLength(3);
  });
});

describe('X’s clock, where it is known only from the answer to the look itself', () => {
  it.each([-3_600_000, 3_600_000])('is gone by all the same: %i ms ahead', async (aheadMs) => {
    const { look, asked } = rig([{ id: '8', madeAfterMs: 100 }], { aheadMs, knowsClock: false });
    expect(await look()).toMatchObject({ found: 'executed' });
    expect(asked).toHaveLength(2);
  });
});

describe('absence, where the operator takes it for proof', () => {
  const authoritativeAfterSecs = 600;
  const later = { laterMs: 700_000, authoritativeAfterSecs };
  const newer = { id: '9', text: 'another', madeAfterMs: 200_000 };

  it('is stated with its times, and not at all by default', () => {
    expect(absenceOf({})).toEqual({ authoritative: false });
    expect(absenceOf({ reconcile: { authoritativeAfterSecs } })).toEqual({
      authoritative: true,
      actsWithinMs: 600_000,
      confirmAfterMs: 60_000,
    });
  });

  it('comes with what was seen that is newer than the send', async () => {
    const { look } = rig([newer, { id: '7', text: 'older', madeAfterMs: -60_000 }], later);
    const newestAt = new VirtualClock().wallNow() - 700_000 + 200_000;
    expect(await look()).toEqual({
      found: 'absent',
      evidence: {
        newest_post_id: '9',
        newest_post_at: new Date(newestAt).toISOString(),
        posts_seen: 2,
      },
    });
  });

  it.each([
    ['nothing', []],
    ['nothing newer', [{ ...newer, madeAfterMs: -60_000 }]],
    ['nothing that is newer than the request may have acted', [{ ...newer, madeAfterMs: 60_000 }]],
    ['a newer post without a time', [{ ...newer, madeAfterMs: Number.NaN }]],
  ])('proves nothing where the timeline shows %s', async (_, posts) => {
    expect(await rig(posts, later).look()).toEqual({ found: 'unknown' });
  });

  it.each([
    ['X has more posts than were read', { pageSize: 1 }],
    ['X left one out', { leftOut: 1 }],
  ])('proves nothing where %s', async (_, more) => {
    const posts = ['9', '10', '11', '12'].map((id) => ({ ...newer, id }));
    expect(await rig(posts, { ...later, ...more }).look()).toEqual({ found: 'unknown' });
  });

  it('proves nothing where an equal post was made so late that X may have been that late', async () => {
    const late = { id: '8', madeAfterMs: 300_000 };
    expect(await rig([newer, late], later).look()).toEqual({ found: 'unknown' });
    const owned = { owned: new Set(['8']), competing: [] };
    expect(await rig([newer, late], later).look(60_000, () => owned)).toMatchObject({
      found: 'absent',
      evidence: { newest_post_id: '8' },
    });
    const untimed = { id: '8', madeAfterMs: Number.NaN };
    expect(await rig([newer, untimed], later).look()).toEqual({ found: 'unknown' });
    // Later than the operator says that X acts: a repeat of another day.
    const tooLate = { id: '8', madeAfterMs: 650_000 };
    expect(await rig([newer, tooLate], later).look()).toMatchObject({ found: 'absent' });
  });

  it('does not replace a post that is found, or that may be another’s', async () => {
    const own = { id: '8', madeAfterMs: 100 };
    expect(await rig([newer, own], later).look()).toMatchObject({ data: { id: '8' } });
    const { look, clock } = rig([newer, own], later);
    const competing = [{ ...draft, openSince: clock.wallNow() - 700_000 }];
    expect(await look(60_000, () => ({ owned: new Set<string>(), competing }))).toEqual({
      found: 'unknown',
    });
  });

  it('looks at a day of posts behind the send, and not at all that followed', async () => {
    const { look, asked } = rig([newer], { ...later, laterMs: 10 * 86_400_000 });
    expect(await look()).toMatchObject({ found: 'absent' });
    const { startTime = '', endTime = '' } = asked[0] ?? {};
    expect(Date.parse(endTime) - Date.parse(startTime)).toBe(86_400_000 + 600_000 + 600_000);
  });
});
