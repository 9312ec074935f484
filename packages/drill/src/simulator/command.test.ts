import { describe, expect, test } from 'vitest';
import { FULL_CALLS, QUICK_CALLS, readArgs, simulate } from './command.js';
import { UsageError } from '../cli/command-line.js';

/** Runs the command in this process, in one thread, and collects its output. */
async function run(...args: string[]) {
  const output = { out: '', err: '', page: '' };
  const code = await simulate([...args, '--threads', '1'], {
    out: (text) => void (output.out += text),
    err: (text) => void (output.err += text),
    colours: false,
    progress: false,
    writePage: (text) => void (output.page += text),
  });
  return { code, ...output };
}

const small = ['--calls', '400', '--cells', 'cell/fast/200/'] as const;

describe('the simulate command', () => {
  test('prints the same bytes for the same seed, and different bytes for another', async () => {
    const first = await run(...small);
    expect(first.out).toContain('toolkeel stac');
    expect(first.err).toBe('');
    expect((await run(...small)).out).toBe(first.out);
    expect((await run(...small, '--seed', '2')).out).not.toBe(first.out);
  });

  test('omits unselected tables and reports the objectives that were not run', async () => {
    const { out } = await run(...small);
    expect(out).not.toContain('A full outage');
    expect(out).toMatch(/p95, fast faults, 200 ms .* met/);
    expect(out).not.toContain('p95, fast faults, 5 ms');
    expect(out).toMatch(/\d+ more objectives were not run/);
  });

  test('prints JSON', async () => {
    const { out, code } = await run(...small, '--json');
    const read = JSON.parse(out) as {
      seed: number;
      results: { id: string }[];
      objectives: unknown[];
    };
    expect(read.seed).toBe(1);
    expect(read.results.map(({ id }) => id)).toContain('cell/fast/200/ours');
    expect(read.objectives).toMatchObject([{ what: 'p95, fast faults, 200 ms', status: 'met' }]);
    expect(code).toBe(0);
  });

  test('prints a sweep', async () => {
    const { out, code } = await run('--sweep', 'alpha', '--calls', '1000');
    expect(out).toContain('as shipped: α 0.25');
    expect(code).toBe(0);
    const json = await run('--sweep', 'alpha', '--calls', '1000', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ calls: 1000, objectives: [] });
  });

  test('prints help', async () => {
    const { out, code } = await run('--help');
    expect(out).toContain('npm run simulate -- --quick --cells cell/fast/200');
    expect(code).toBe(0);
  });

  test('exits with code 2 and a hint for invalid usage', async () => {
    for (const wrong of [['--nonsense'], ['--cells', 'no such cell'], ['--calls', 'many']]) {
      const { out, err, code } = await run(...wrong);
      expect({ out, code }).toEqual({ out: '', code: 2 });
      expect(err).toContain('--help');
    }
  });
});

describe('the command line', () => {
  test('runs the full table by default', () => {
    expect(readArgs([])).toMatchObject({ calls: FULL_CALLS, seed: 1, json: false, write: false });
  });

  test('--quick reduces the calls, and --calls sets them', () => {
    expect(readArgs(['--quick']).calls).toBe(QUICK_CALLS);
    expect(readArgs(['--quick', '--calls', '5_000']).calls).toBe(5000);
  });

  test('reads the other options', () => {
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
  ] as const)('rejects %j', ([args, message]) => {
    expect(() => readArgs(args)).toThrow(UsageError);
    expect(() => readArgs(args)).toThrow(message);
  });
});
