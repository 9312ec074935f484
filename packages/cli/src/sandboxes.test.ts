import { stacFlags, xFlags, type Flag } from '@toolkeel/sandbox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packFlags, sandboxFlags, settingsByPack } from './sandboxes.js';
import { UsageError } from './errors.js';

const two = new Map<string, readonly Flag[]>([
  [
    'a',
    [
      { flag: '--port <number>', description: 'where', isExclusive: true },
      { flag: '--seed <number>', description: 'luck of a' },
      { flag: '--fault <rule...>', description: 'what goes wrong' },
    ],
  ],
  [
    'b',
    [
      { flag: '--port <number>', description: 'where', isExclusive: true },
      { flag: '--seed <number>', description: 'luck of b' },
      { flag: '--fault <rule...>', description: 'what goes wrong' },
      { flag: '--draw-by <what>', description: 'how' },
    ],
  ],
]);
const said = (given: object, chosen: readonly string[] = ['a', 'b']) =>
  Object.fromEntries(settingsByPack(chosen, two, given as Record<string, unknown>));

describe('flags of several sandboxes', () => {
  it('are there once for all and once for each, and say whose they are', () => {
    const shown = sandboxFlags(two).filter(({ isOfOne }) => !isOfOne);
    expect(shown.map(({ flag, description }) => [flag, description])).toEqual([
      ['--port <number>', 'where'],
      ['--seed <number>', 'a: luck of a; b: luck of b'],
      ['--fault <rule...>', 'what goes wrong'],
      ['--draw-by <what>', 'b: how'],
    ]);
    const own = sandboxFlags(two).filter(({ isOfOne }) => isOfOne);
    expect(own.map(({ flag }) => flag)).toContain('--b-draw-by <what>');
  });

  it('of all packs that there are have names of their own', async () => {
    const names = sandboxFlags(await packFlags()).map(({ flag }) => flag.split(' ')[0]);
    expect(new Set(names).size).toBe(names.length);
    for (const { flag } of [...stacFlags, ...xFlags]) expect(names).toContain(flag.split(' ')[0]);
  });

  it('reach every pack that knows them, or the one that they name', () => {
    expect(said({ seed: '7', bSeed: '8', drawBy: 'request' })).toEqual({
      a: { seed: '7' },
      b: { seed: '8', drawBy: 'request' },
    });
    expect(said({ fault: ['one'], aFault: ['two'] })).toEqual({
      a: { fault: ['one', 'two'] },
      b: { fault: ['one'] },
    });
    expect(said({ aPort: '1', bPort: '2' })).toEqual({ a: { port: '1' }, b: { port: '2' } });
    expect(said({ port: '1', verbose: true }, ['b'])).toEqual({ b: { port: '1' } });
  });

  it('are refused where nobody could have them', () => {
    expect(() => said({ port: '1' })).toThrow(
      new UsageError('--port cannot be the same for a and b: say --a-port or --b-port.'),
    );
    expect(() => said({ drawBy: 'request' }, ['a'])).toThrow(/--draw-by is for the sandbox of b/);
    expect(() => said({ bSeed: '1' }, ['a'])).toThrow(/--b-seed: the sandbox of b is not started/);
  });

  it('of the packs that there are: ports differ, and what only one knows is for that one', async () => {
    const flags = await packFlags();
    expect(() => settingsByPack(['stac', 'x'], flags, { port: '1' })).toThrow(
      /--stac-port or --x-port/,
    );
    expect(() => settingsByPack(['x'], flags, { scale: '1' })).toThrow(/for the sandbox of stac/);
    expect(settingsByPack(['x'], flags, { port: '1' }).get('x')).toEqual({ port: '1' });
  });

  it('are lost nowhere: what is not refused reaches somebody', () => {
    const names = ['seed', 'aSeed', 'bSeed', 'drawBy', 'bDrawBy', 'port', 'aPort', 'bPort'];
    const given = fc.dictionary(fc.constantFrom(...names), fc.stringMatching(/^[0-9]$/));
    fc.assert(
      fc.property(given, fc.subarray(['a', 'b'], { minLength: 1 }), (flags, chosen) => {
        let reached: Record<string, Readonly<Record<string, unknown>>>;
        try {
          reached = said(flags, chosen);
        } catch (cause) {
          expect(cause).toBeInstanceOf(UsageError);
          return;
        }
        for (const [name, value] of Object.entries(flags)) {
          const [, pack, rest = ''] = /^([ab])([A-Z].*)$/.exec(name) ?? [];
          const own = pack === undefined ? name : rest.charAt(0).toLowerCase() + rest.slice(1);
          const takers = pack === undefined ? chosen : [pack];
          const values = takers.map((one) => reached[one]?.[own]);
          const overruled = takers.some(
            (one) => `${one}${own.charAt(0).toUpperCase()}${own.slice(1)}` in flags,
          );
          expect(overruled || values.includes(value)).toBe(true);
        }
      }),
    );
  });
});
