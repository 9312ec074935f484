import { describe, expect, it } from 'vitest';
import { calculateBackoff } from './decide/backoff.js';
import { llmAdapters, presets } from './presets.js';

describe('presets have the specified numbers', () => {
  it.each([
    ['social', 2, [500, 1000, 5000], 10_000, undefined, 15_000],
    ['stac', 2, [400, 800, 1600], 6_000, undefined, 15_000],
    ['github', 3, [1000, 2000, 60_000], 20_000, undefined, 55_000],
    ['llm', 2, [4000, 8000, 30_000], undefined, undefined, 300_000],
    ['guard', 2, [200, 400, 5000], undefined, 60_000, 300_000],
  ] as const)('%s', (name, retries, backoffs, attempt, idle, call) => {
    const preset = presets[name];
    expect(preset.maxRetries).toBe(retries);
    expect([0, 1, 99].map((n) => calculateBackoff(n, preset))).toEqual(backoffs);
    expect(preset.attemptTimeoutMs).toBe(attempt);
    expect(preset.idleTimeoutMs).toBe(idle);
    expect(preset.callTimeoutMs).toBe(call);
  });

  it('use jitter, except github', () => {
    const jitters = Object.entries(presets).map(([name, { jitter }]) => [name, jitter]);
    expect(Object.fromEntries(jitters)).toEqual({
      social: 'full',
      stac: 'full',
      github: 'none',
      llm: 'full',
      guard: 'full',
    });
  });

  it('keep the sum of stac’s delays under 3 s', () => {
    const { stac } = presets;
    const waits = Array.from({ length: stac.maxRetries }, (_, n) => calculateBackoff(n, stac));
    expect(waits.reduce((sum, ms) => sum + ms)).toBeLessThan(3000);
  });

  it('include a budget and a breaker', () => {
    for (const preset of Object.values(presets)) {
      expect(preset.budget).toBeDefined();
      expect(preset.breaker).toBeDefined();
    }
  });

  it('allow 120 s for Claude, 90 s of silence for Gemini, 3 attempts each', () => {
    expect(llmAdapters.claude.attemptTimeoutMs).toBe(120_000);
    expect(llmAdapters.claude.idleTimeoutMs).toBeUndefined();
    expect(llmAdapters.gemini.idleTimeoutMs).toBe(90_000);
    expect(llmAdapters.gemini.attemptTimeoutMs).toBeUndefined();
    expect(llmAdapters.claude.maxRetries + 1).toBe(3);
    expect(llmAdapters.gemini.maxRetries + 1).toBe(3);
  });
});
