import { describe, expect, test } from 'vitest';
import { UsageError } from '../cli/command-line.js';
import { toolNames } from './calls.js';
import { drillStac, readArgs } from './command.js';

const ids = (...args: string[]) => readArgs(args).scenarios.map(({ id }) => id);

describe('the command line', () => {
  test('runs every tool and scenario by default', () => {
    expect(readArgs([])).toMatchObject({ calls: 200, seed: 1, tools: toolNames, quick: false });
    expect(ids()).toEqual(['fast/50', 'fast/200', 'fast/1000', 'mix/200']);
  });

  test('--quick makes a few calls on a fast upstream', () => {
    expect(readArgs(['--quick'])).toMatchObject({ calls: 4, quick: true });
    expect(ids('--quick')).toEqual(['fast/50']);
    expect(readArgs(['--quick', '--calls', '10']).calls).toBe(12);
  });

  test('selects latencies, faults and tools', () => {
    expect(ids('--latency', '50, 100')).toEqual(['fast/50', 'fast/100', 'mix/50', 'mix/100']);
    expect(ids('--faults', 'mix')).toEqual(['mix/200']);
    expect(ids('--faults', 'fast', '--latency', '200,200')).toEqual(['fast/200']);
    expect(readArgs(['--tools', 'get_root,get_item']).tools).toEqual(['get_root', 'get_item']);
  });

  test('gives every scenario its own random stream', () => {
    const streams = readArgs(['--latency', '50,100,200,1000']).scenarios.map(
      (one) => one.randomStream,
    );
    expect(new Set(streams).size).toBe(8);
  });

  test.for([
    [['--calls', '3'], '--calls must be a whole number from 4 to 800'],
    [['--calls', '801'], 'not 801'],
    [['--seed', '-1'], '--seed'],
    [['--latency', 'fast'], '--latency must be a whole number'],
    [['--faults', 'none'], '--faults must be one of fast, mix, not none'],
    [['--tools', 'get_rot'], '--tools must be one of'],
    [['--speed'], '--speed'],
    [['get_root'], 'get_root'],
  ] as const)('rejects %j', ([args, message]) => {
    expect(() => readArgs(args)).toThrow(UsageError);
    expect(() => readArgs(args)).toThrow(message);
  });
});

/** Runs the command without a server to start. */
async function drill(...args: string[]) {
  const output = { out: '', err: '', written: [] as string[] };
  const code = await drillStac(args, {
    out: (text) => void (output.out += text),
    err: (text) => void (output.err += text),
    colours: false,
    progress: false,
    write: (file) => void output.written.push(file),
    probe: (file) => {
      if (file.startsWith('/nowhere/')) throw new Error('no such folder');
    },
    server: ['no-such-server'],
  });
  return { code, ...output };
}

describe('the command', () => {
  test('prints help with an example', async () => {
    const { code, out } = await drill('--help');
    expect(code).toBe(0);
    expect(out).toContain('npm run drill:stac -- --tools get_item,search_items --latency 50');
  });

  test('rejects invalid usage with exit code 2 before it starts', async () => {
    for (const wrong of [
      ['--calls', 'x'],
      ['--json', '/nowhere/a.json'],
    ]) {
      const { code, out, err } = await drill(...wrong);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain('--help');
    }
    expect((await drill('--html', '/nowhere/a.html')).err).toContain(
      'cannot write /nowhere/a.html',
    );
  });
});
