import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { askAll, askToReplace, Cancelled } from './init-prompts.js';

const ENTER = '\r';
const DOWN = '\u001B[B';
const CTRL_C = '\u0003';

type Reaction = readonly [question: RegExp, ...keys: readonly string[]];

/** Somebody at a terminal, who presses keys when a question stands there. */
const person = (...reactions: readonly Reaction[]) => {
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

describe('a person', () => {
  it('who only presses Enter gets the defaults', async () => {
    const terminal = person([profile, ENTER], [packs, ENTER], [address, ENTER]);
    expect(await askAll(known, terminal)).toEqual(known);
  });

  it('can choose', async () => {
    const url = 'https://a.example';
    const terminal = person([profile, DOWN, ENTER], [packs, ENTER], [address, url, ENTER]);
    expect(await askAll(known, terminal)).toEqual({
      profile: 'api',
      packs: ['stac'],
      upstreams: { stac: url },
    });
  });

  it('is told at once that an address is none', async () => {
    const mistaken = person(
      [profile, ENTER],
      [packs, ENTER],
      [address, 'nowhere', ENTER],
      [/is not an address/, CTRL_C],
    );
    await expect(askAll(known, mistaken)).rejects.toBeInstanceOf(Cancelled);
  });

  it('can leave', async () => {
    await expect(askAll(known, person([profile, CTRL_C]))).rejects.toBeInstanceOf(Cancelled);
  });

  it('keeps the file that is there by pressing Enter, and replaces it by saying so', async () => {
    expect(await askToReplace('/a.json', person([/Replace it/, ENTER]))).toBe(false);
    expect(await askToReplace('/a.json', person([/Replace it/, 'y']))).toBe(true);
  });
});
