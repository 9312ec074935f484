import { describe, expect, test } from 'vitest';
import { UsageError } from '../faults/rules.js';
import { stacFlags, stacOptionsFromFlags } from './flags.js';

describe('flags', () => {
  test('become options', () => {
    expect(stacOptionsFromFlags({})).toEqual({});
    expect(
      stacOptionsFromFlags({
        port: '8080',
        assetsPort: '8081',
        controlPort: '0',
        seed: '7',
        scale: '0.5',
        flavour: 'earth-search',
        fault: ['20%:http-503', 'stall@search'],
        latency: ['p95=200'],
        drawBy: 'request',
        requireHeader: 'X-Api-Key: open sesame',
      }),
    ).toEqual({
      port: 8080,
      assetsPort: 8081,
      controlPort: 0,
      seed: 7,
      scale: 0.5,
      flavour: 'earth-search',
      faults: [
        { kind: 'http-503', rate: 0.2 },
        { kind: 'stall', routes: ['search'] },
      ],
      latency: { p95Ms: 200 },
      drawBy: 'request',
      requiredHeader: { name: 'X-Api-Key', value: 'open sesame' },
    });
  });

  test.for([
    { port: '70000' },
    { port: 'http' },
    { seed: '-1' },
    { scale: '0' },
    { flavour: 'vanilla' },
    { drawBy: 'luck' },
    { requireHeader: 'nonsense' },
    { fault: ['fire'] },
    { latency: ['slow'] },
  ])('refuse %j, and say why', (values) => {
    expect(() => stacOptionsFromFlags(values)).toThrow(UsageError);
    expect(() => stacOptionsFromFlags(values)).toThrow(
      String(Object.values(values).flat()[0]).slice(0, 4),
    );
  });

  test('are all described, under the names that parsers give them', () => {
    const names = stacFlags.map(({ flag }) =>
      (/^--([\w-]+)/.exec(flag)?.[1] ?? '').replaceAll(/-(\w)/g, (_, letter: string) =>
        letter.toUpperCase(),
      ),
    );
    expect(names).toEqual([
      'port',
      'assetsPort',
      'controlPort',
      'seed',
      'scale',
      'flavour',
      'fault',
      'latency',
      'drawBy',
      'requireHeader',
    ]);
  });
});
