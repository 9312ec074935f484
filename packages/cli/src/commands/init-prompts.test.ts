import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { askAll, askToReplace, Cancelled } from './init-prompts.js';

const ENTER = '\r';
const DOWN = '\u001B[B';
const CTRL_C = '\u0003';

type Reaction = readonly [question: RegExp, ...keys: readonly string[]];

/** A terminal that presses keys when a question appears. */
const terminalWith = (...reactions: readonly Reaction[]) => {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  const left = [...reactions];
  let shown = '';
  const press = ([key, ...later]: readonly string[]): void => {
    if (key === undefined) return;
    input.write(key);
    setImmediate(press, later);
  };
  output.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    const [question = /$^/, ...keys] = left[0] ?? [];
    if (!question.test(shown)) return;
    left.shift();
    shown = '';
    setImmediate(press, keys);
  });
  return { input, output };
};

const known = { profile: 'readonly', packs: ['stac'], upstreams: {} } as const;
const [profile, packs, address] = [/Which tools/, /Which packs/, /Which STAC API/];

describe('the prompts of init', () => {
  it('return the defaults for Enter', async () => {
    const terminal = terminalWith([profile, ENTER], [packs, ENTER], [address, ENTER]);
    expect(await askAll(known, terminal)).toEqual(known);
  });

  it('return the selected values', async () => {
    const url = 'https://a.example';
    const terminal = terminalWith([profile, DOWN, ENTER], [packs, ENTER], [address, url, ENTER]);
    expect(await askAll(known, terminal)).toEqual({
      profile: 'api',
      packs: ['stac'],
      upstreams: { stac: url },
    });
  });

  it('refuse an invalid URL', async () => {
    const mistaken = terminalWith(
      [profile, ENTER],
      [packs, ENTER],
      [address, 'nowhere', ENTER],
      [/is not a URL/, CTRL_C],
    );
    await expect(askAll(known, mistaken)).rejects.toBeInstanceOf(Cancelled);
  });

  it('can be cancelled', async () => {
    await expect(askAll(known, terminalWith([profile, CTRL_C]))).rejects.toBeInstanceOf(Cancelled);
  });

  it('replace an existing file only after a confirmation', async () => {
    expect(await askToReplace('/a.json', terminalWith([/Replace it/, ENTER]))).toBe(false);
    expect(await askToReplace('/a.json', terminalWith([/Replace it/, 'y']))).toBe(true);
  });
});
