import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import type { Client } from '../api/client.js';
import type { Post } from '../model.js';
import type { SocialReadProvider } from '../api/provider.js';
import type { Claims } from './claims.js';
import { absenceOf, readBack } from './read-back.js';

const draft = { text: 'the same' };

interface Shown {
  readonly id: string;
  readonly text?: string;
  /** Creation time on X's clock, relative to the send. */
  readonly madeAfterMs: number;
  /** When it becomes visible. */
  readonly shownAfterMs?: number;
}

/** A timeline, and an X clock that may differ from the local one. */
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
    readBackMs: 8_000,
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

describe('reading back a post with an unknown outcome', () => {
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
  ])('does not match a post that is %s', async (_, madeAfterMs) => {
    const { look } = rig([{ id: '8', madeAfterMs }], { laterMs: 600_000 });
    expect(await look()).toEqual({ found: 'absent' });
  });

  it('uses X’s clock', async () => {
    for (const aheadMs of [-3_600_000, -900, 900, 3_600_000]) {
      const { look } = rig([{ id: '8', madeAfterMs: 100 }], { aheadMs });
      expect(await look()).toMatchObject({ found: 'executed' });
    }
  });

  it('does not choose between two equal posts', async () => {
    const { look } = rig([
      { id: '8', madeAfterMs: 100 },
      { id: '9', madeAfterMs: 4_000 },
    ]);
    expect(await look()).toEqual({ found: 'unknown' });
  });

  it('waits for an equal post that is in flight', async () => {
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

  it('ignores posts of other operations', async () => {
    const { look } = rig([
      { id: '8', madeAfterMs: 100 },
      { id: '9', madeAfterMs: 4_000 },
    ]);
    const owned = (...ids: string[]) => ({ owned: new Set(ids), competing: [] });
    expect(await look(60_000, () => owned('8'))).toMatchObject({ data: { id: '9' } });
    expect(await look(60_000, () => owned('8', '9'))).toEqual({ found: 'absent' });
  });

  it('does not attribute a post that another unknown operation may have created', async () => {
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

  it('reads the creation time from an id', async () => {
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

  it('repeats the search with backoff, then gives up', async () => {
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

  it('searches once for an old post, with an end time', async () => {
    const { look, asked } = rig([{ id: '8', madeAfterMs: 100 }], { laterMs: 86_400_000 });
    expect(await look()).toMatchObject({ found: 'executed' });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.endTime).toMatch(/^\d{4}-.*Z$/);
    const fresh = rig([{ id: '8', madeAfterMs: 100 }]);
    await fresh.look();
    // X rejects an end in the future.
    expect(fresh.asked[0]?.endTime).toBeUndefined();
  });

  it('reads a bounded number of pages', async () => {
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

describe('X’s clock, if only the read-back itself reveals it', () => {
  it.each([-3_600_000, 3_600_000])('is used: %i ms ahead', async (aheadMs) => {
    const { look, asked } = rig([{ id: '8', madeAfterMs: 100 }], { aheadMs, knowsClock: false });
    expect(await look()).toMatchObject({ found: 'executed' });
    expect(asked).toHaveLength(2);
  });
});

describe('absence, if configured as authoritative', () => {
  const authoritativeAfterSecs = 600;
  const later = { laterMs: 700_000, authoritativeAfterSecs };
  const newer = { id: '9', text: 'another', madeAfterMs: 200_000 };

  it('declares its times, and is off by default', () => {
    expect(absenceOf({})).toEqual({ authoritative: false });
    expect(absenceOf({ reconcile: { authoritativeAfterSecs } })).toEqual({
      authoritative: true,
      actsWithinMs: 600_000,
      confirmAfterMs: 60_000,
    });
  });

  it('has a newer post as evidence', async () => {
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
  ])('is not proven if the timeline shows %s', async (_, posts) => {
    expect(await rig(posts, later).look()).toEqual({ found: 'unknown' });
  });

  it.each([
    ['X has more posts than were read', { pageSize: 1 }],
    ['X left one out', { leftOut: 1 }],
  ])('is not proven if %s', async (_, more) => {
    const posts = ['9', '10', '11', '12'].map((id) => ({ ...newer, id }));
    expect(await rig(posts, { ...later, ...more }).look()).toEqual({ found: 'unknown' });
  });

  it('is not proven if an equal post was created late', async () => {
    const late = { id: '8', madeAfterMs: 300_000 };
    expect(await rig([newer, late], later).look()).toEqual({ found: 'unknown' });
    const owned = { owned: new Set(['8']), competing: [] };
    expect(await rig([newer, late], later).look(60_000, () => owned)).toMatchObject({
      found: 'absent',
      evidence: { newest_post_id: '8' },
    });
    const untimed = { id: '8', madeAfterMs: Number.NaN };
    expect(await rig([newer, untimed], later).look()).toEqual({ found: 'unknown' });
    // Later than the configured time: an unrelated repeat.
    const tooLate = { id: '8', madeAfterMs: 650_000 };
    expect(await rig([newer, tooLate], later).look()).toMatchObject({ found: 'absent' });
  });

  it('does not override a found or contested post', async () => {
    const own = { id: '8', madeAfterMs: 100 };
    expect(await rig([newer, own], later).look()).toMatchObject({ data: { id: '8' } });
    const { look, clock } = rig([newer, own], later);
    const competing = [{ ...draft, openSince: clock.wallNow() - 700_000 }];
    expect(await look(60_000, () => ({ owned: new Set<string>(), competing }))).toEqual({
      found: 'unknown',
    });
  });

  it('reads at most a day of posts after the send', async () => {
    const { look, asked } = rig([newer], { ...later, laterMs: 10 * 86_400_000 });
    expect(await look()).toMatchObject({ found: 'absent' });
    const { startTime = '', endTime = '' } = asked[0] ?? {};
    expect(Date.parse(endTime) - Date.parse(startTime)).toBe(86_400_000 + 600_000 + 600_000);
  });
});
