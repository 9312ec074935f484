import type { NowResponse, ProcessState } from '@toolkeel/console';
import { expect, test } from 'vitest';
import { comparedNow, comparedProcesses } from './updates.js';

const at = (ms: number): string => new Date(1_800_000_000_000 + ms).toISOString();

test('a state that stays the same is sent again every 5 s, so that its age stays true', () => {
  const now = (ms: number): unknown =>
    comparedNow({ at: at(ms), status: 'ok', oldest_report_ms: ms } as NowResponse);
  expect(now(4_999)).toEqual(now(0));
  expect(now(5_000)).not.toEqual(now(0));
  const processes = (...reports: number[]): unknown =>
    comparedProcesses(
      reports.map((ms) => ({ id: 'p', age_ms: ms, reported_at: at(ms) }) as ProcessState),
    );
  expect(processes(2_000, 4_000)).toEqual(processes(0, 1_000));
  expect(processes(2_000, 6_000)).not.toEqual(processes(2_000, 4_000));
  expect(processes()).toEqual(processes());
});
