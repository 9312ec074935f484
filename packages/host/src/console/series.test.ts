import { expect, it } from 'vitest';
import { Series } from './series.js';

const MINUTE = 60_000;
const now = 100 * 60 * MINUTE + 30_000;
const call = (minutesAgo: number, elapsedMs: number, code = 'ok', tool = 'look') => ({
  tool,
  code,
  at: now - minutesAgo * MINUTE,
  elapsedMs,
});

it('counts calls by minute, with percentiles within two percent', () => {
  const series = new Series();
  for (let ms = 1; ms <= 100; ms++) series.add(call(3, ms), now);
  series.add(call(0, 5, 'timeout'), now);
  series.add(call(60, 5), now);
  const { minutes, tools, all } = series.read(now);
  expect(minutes).toHaveLength(60);
  const [look] = tools;
  expect(look?.calls.at(-4)).toBe(100);
  expect(look?.calls.at(-1)).toBe(1);
  expect(look?.success_ratio.at(-1)).toBe(0);
  expect(look?.success_ratio.at(-2)).toBeNull();
  expect(look?.p50_ms.at(-4)).toBeGreaterThanOrEqual(50);
  expect(look?.p50_ms.at(-4)).toBeLessThanOrEqual(51.1);
  expect(look?.p95_ms.at(-4)).toBeGreaterThanOrEqual(95);
  expect(look?.p95_ms.at(-4)).toBeLessThanOrEqual(97);
  expect(all.total).toMatchObject({ calls: 101, codes: [{ code: 'timeout', calls: 1 }] });
});

it('does not count a call that waits for approval as failed', () => {
  const series = new Series();
  series.add(call(1, 5, 'approval_required'), now);
  expect(series.read(now).all.total.success_ratio).toBeNull();
  series.add(call(1, 5), now);
  series.add(call(1, 5, 'timeout'), now);
  series.add(call(1, 5, 'approval_required'), now);
  expect(series.read(now).all.total.success_ratio).toBe(0.5);
  expect(series.totals(now - 5 * MINUTE).get('look')).toEqual({
    calls: 4,
    failed: 1,
    code: 'timeout',
  });
});

it('forgets minutes, and counts tools beyond its bound together', () => {
  const series = new Series();
  for (let n = 0; n < 600; n++) series.add(call(0, 1, 'ok', `tool${n}`), now);
  const { tools, all } = series.read(now);
  expect(tools).toHaveLength(501);
  expect(tools[0]).toMatchObject({ tool: '(others)', total: { calls: 100 } });
  expect(all.total.calls).toBe(600);
  expect(series.read(now + 61 * MINUTE).all.total).toMatchObject({ calls: 0, p50_ms: null });
});
