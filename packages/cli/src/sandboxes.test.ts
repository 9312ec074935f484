import { stacFlags, xFlags, type Flag } from '@toolkeel/sandbox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from './errors.js';
import { packFlags, sandboxFlags, settingsByPack } from './sandboxes.js';

const two = new Map<string, readonly Flag[]>([
  [
    'a',
    [
      { flag: '--port <number>', description: 'where', isExclusive: true },
      { flag: '--seed <number>', description: 'seed of a' },
      { flag: '--fault <rule...>', description: 'fault rule' },
    ],
  ],
  [
    'b',
    [
      { flag: '--port <number>', description: 'where', isExclusive: true },
      { flag: '--seed <number>', description: 'seed of b' },
      { flag: '--fault <rule...>', description: 'fault rule' },
      { flag: '--draw-by <what>', description: 'how' },
    ],
  ],
]);
const settingsFor = (given: object, chosen: readonly string[] = ['a', 'b']) =>
  Object.fromEntries(settingsByPack(chosen, two, given as Record<string, unknown>));

describe('flags of several sandboxes', () => {
  it('exist once for all packs and once for each, with the owners in the description', () => {
    const shown = sandboxFlags(two).filter(({ isPackSpecific }) => !isPackSpecific);
    expect(shown.map(({ flag, description }) => [flag, description])).toEqual([
      ['--port <number>', 'where'],
      ['--seed <number>', 'a: seed of a; b: seed of b'],
      ['--fault <rule...>', 'fault rule'],
      ['--draw-by <what>', 'b: how'],
    ]);
    const own = sandboxFlags(two).filter(({ isPackSpecific }) => isPackSpecific);
    expect(own.map(({ flag }) => flag)).toContain('--b-draw-by <what>');
  });

  it('have unique names across all packs', async () => {
    const names = sandboxFlags(await packFlags()).map(({ flag }) => flag.split(' ')[0]);
    expect(new Set(names).size).toBe(names.length);
    for (const { flag } of [...stacFlags, ...xFlags]) expect(names).toContain(flag.split(' ')[0]);
  });

  it('reach every pack that supports them, or the named one', () => {
    expect(settingsFor({ seed: '7', bSeed: '8', drawBy: 'request' })).toEqual({
      a: { seed: '7' },
      b: { seed: '8', drawBy: 'request' },
    });
    expect(settingsFor({ fault: ['one'], aFault: ['two'] })).toEqual({
      a: { fault: ['one', 'two'] },
      b: { fault: ['one'] },
    });
    expect(settingsFor({ aPort: '1', bPort: '2' })).toEqual({ a: { port: '1' }, b: { port: '2' } });
    expect(settingsFor({ port: '1', verbose: true }, ['b'])).toEqual({ b: { port: '1' } });
  });

  it('are refused if no started pack supports them, or several need different values', () => {
    expect(() => settingsFor({ port: '1' })).toThrow(
      new UsageError('--port cannot be the same for a and b. Use --a-port or --b-port.'),
    );
    expect(() => settingsFor({ drawBy: 'request' }, ['a'])).toThrow(
      /--draw-by applies to the sandbox of b/,
    );
    expect(() => settingsFor({ bSeed: '1' }, ['a'])).toThrow(
      /--b-seed: the sandbox of b is not started/,
    );
  });

  it('of the real packs follow the same rules', async () => {
    const flags = await packFlags();
    expect(() => settingsByPack(['stac', 'x'], flags, { port: '1' })).toThrow(
      /--stac-port or --x-port/,
    );
    expect(() => settingsByPack(['x'], flags, { scale: '1' })).toThrow(
      /applies to the sandbox of stac/,
    );
    expect(settingsByPack(['x'], flags, { port: '1' }).get('x')).toEqual({ port: '1' });
  });

  it('either reach a pack or are refused', () => {
    const names = ['seed', 'aSeed', 'bSeed', 'drawBy', 'bDrawBy', 'port', 'aPort', 'bPort'];
    const given = fc.dictionary(fc.constantFrom(...names), fc.stringMatching(/^[0-9]$/));
    fc.assert(
      fc.property(given, fc.subarray(['a', 'b'], { minLength: 1 }), (flags, chosen) => {
        let reached: Record<string, Readonly<Record<string, unknown>>>;
        try {
          reached = settingsFor(flags, chosen);
        } catch (cause) {
          expect(cause).toBeInstanceOf(UsageError);
          return;
        }
        for (const [name, value] of Object.entries(flags)) {
          const [, pack, rest = ''] = /^([ab])([A-Z].*)$/.exec(name) ?? [];
          const own = pack === undefined ? name : rest.charAt(0).toLowerCase() + rest.slice(1);
          const takers = pack === undefined ? chosen : [pack];
          const values = takers.map((pack) => reached[pack]?.[own]);
          const overruled = takers.some(
            (pack) => `${pack}${own.charAt(0).toUpperCase()}${own.slice(1)}` in flags,
          );
          expect(overruled || values.includes(value)).toBe(true);
        }
      }),
    );
  });
});
