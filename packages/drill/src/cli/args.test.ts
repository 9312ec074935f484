import { describe, expect, test } from 'vitest';
import { FULL_CALLS, QUICK_CALLS, readArgs } from './args.js';
import { UsageError } from './usage.js';

describe('the command line', () => {
  test('asks for the full table by default', () => {
    expect(readArgs([])).toMatchObject({ calls: FULL_CALLS, seed: 1, json: false, write: false });
  });

  test('--quick is smaller, and --calls says how small', () => {
    expect(readArgs(['--quick']).calls).toBe(QUICK_CALLS);
    expect(readArgs(['--quick', '--calls', '5_000']).calls).toBe(5000);
  });

  test('reads the rest', () => {
    expect(
      readArgs(['--seed', '7', '--cells', 'cell/fast', '--json', '--threads', '1']),
    ).toMatchObject({
      seed: 7,
      cells: 'cell/fast',
      json: true,
      threads: 1,
    });
    expect(readArgs(['--sweep', 'budget']).sweep).toBe('budget');
    expect(readArgs(['-h']).help).toBe(true);
  });

  test.for([
    [['--calls', '0'], '--calls must be a whole number from 200'],
    [['--calls', '1e6'], 'not 1e6'],
    [['--calls', '-5'], '--calls'],
    [['--calls'], '--calls'],
    [['--seed', 'x'], '--seed must be a whole number'],
    [['--seed', '4294967296'], '--seed'],
    [['--threads', '0'], '--threads'],
    [['--sweep', 'everything'], 'one of alpha, fallback, second, budget, breaker, hedge'],
    [['--fast'], '--fast'],
    [['cell/fast'], 'cell/fast'],
    [['--write', '--cells', 'cell'], 'the whole page'],
    [['--write', '--sweep', 'alpha'], 'the whole page'],
    [['--cells', 'cell', '--sweep', 'alpha'], 'choose one'],
  ] as const)('refuses %j', ([args, message]) => {
    expect(() => readArgs(args)).toThrow(UsageError);
    expect(() => readArgs(args)).toThrow(message);
  });
});
