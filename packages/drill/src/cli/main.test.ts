import { describe, expect, test } from 'vitest';
import { main } from './main.js';

/** Runs the command here, in one thread, and keeps what it says. */
async function simulate(...args: string[]) {
  const said = { out: '', err: '', page: '' };
  const code = await main([...args, '--threads', '1'], {
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    colours: false,
    progress: false,
    writePage: (text) => void (said.page += text),
  });
  return { code, ...said };
}

const small = ['--calls', '400', '--cells', 'cell/fast/200/'] as const;

describe('the simulate command', () => {
  test('prints the same bytes for the same seed, and others for another', async () => {
    const first = await simulate(...small);
    expect(first.out).toContain('toolkeel stac');
    expect(first.err).toBe('');
    expect((await simulate(...small)).out).toBe(first.out);
    expect((await simulate(...small, '--seed', '2')).out).not.toBe(first.out);
  });

  test('leaves out what was not asked for, and says that it was not judged', async () => {
    const { out } = await simulate(...small);
    expect(out).not.toContain('A full outage');
    expect(out).toMatch(/p95, fast faults, 200 ms .* met/);
    expect(out).not.toContain('p95, fast faults, 5 ms');
    expect(out).toMatch(/\d+ more objectives were not run/);
  });

  test('prints JSON that a machine can read', async () => {
    const { out, code } = await simulate(...small, '--json');
    const read = JSON.parse(out) as {
      seed: number;
      results: { id: string }[];
      objectives: unknown[];
    };
    expect(read.seed).toBe(1);
    expect(read.results.map(({ id }) => id)).toContain('cell/fast/200/ours');
    expect(read.objectives).toMatchObject([{ what: 'p95, fast faults, 200 ms', verdict: 'met' }]);
    expect(code).toBe(0);
  });

  test('prints a sweep', async () => {
    const { out, code } = await simulate('--sweep', 'alpha', '--calls', '1000');
    expect(out).toContain('as shipped: α 0.25');
    expect(code).toBe(0);
    const json = await simulate('--sweep', 'alpha', '--calls', '1000', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ calls: 1000, objectives: [] });
  });

  test('helps', async () => {
    const { out, code } = await simulate('--help');
    expect(out).toContain('npm run simulate -- --quick --cells cell/fast/200');
    expect(code).toBe(0);
  });

  test('exits with 2 and a hint when it is used wrongly', async () => {
    for (const wrong of [['--nonsense'], ['--cells', 'no such cell'], ['--calls', 'many']]) {
      const { out, err, code } = await simulate(...wrong);
      expect({ out, code }).toEqual({ out: '', code: 2 });
      expect(err).toContain('--help');
    }
  });
});
