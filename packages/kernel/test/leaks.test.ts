import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

interface Report {
  readonly calls: number;
  readonly listeners: number;
  readonly before: { readonly timers: number; readonly promises: number };
  readonly after: { readonly timers: number; readonly promises: number };
}

describe('100,000 calls that succeed, fail, hang or are aborted', () => {
  let report: Report;

  beforeAll(() => {
    const script = fileURLToPath(new URL('leaks.fixture.mjs', import.meta.url));
    const flags = ['--expose-gc', '--no-warnings'];
    report = JSON.parse(
      execFileSync(process.execPath, [...flags, script], { encoding: 'utf8' }),
    ) as Report;
  }, 60_000);

  it('were made', () => {
    expect(report.calls).toBe(100_000);
  });

  it('leave no timer behind', () => {
    expect(report.after.timers).toBe(report.before.timers);
  });

  it('leave no listener on the caller’s signal', () => {
    expect(report.listeners).toBe(0);
  });

  it('leave no promise behind', () => {
    expect(report.after.promises).toBeLessThanOrEqual(report.before.promises);
  });
});
