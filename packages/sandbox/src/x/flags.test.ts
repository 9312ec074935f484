import { describe, expect, test } from 'vitest';
import { UsageError } from '../faults/rules.js';
import { xFlags, xOptionsFromFlags } from './flags.js';

describe('flags', () => {
  test('become options', () => {
    expect(xOptionsFromFlags({})).toEqual({});
    expect(
      xOptionsFromFlags({
        port: '8080',
        controlPort: '0',
        seed: '7',
        tier: 'enterprise',
        clientId: 'app',
        clientSecret: 'secret',
        credits: '2.5',
        lag: '500',
        fault: ['20%:acted-http-503@create-post', 'x-403-duplicate;times=1'],
        latency: ['p95=200'],
        drawBy: 'request',
      }),
    ).toEqual({
      port: 8080,
      controlPort: 0,
      seed: 7,
      tier: 'enterprise',
      clientId: 'app',
      clientSecret: 'secret',
      credits: 2.5,
      lagMs: 500,
      faults: [
        { kind: 'acted-http-503', rate: 0.2, routes: ['create-post'] },
        { kind: 'x-403-duplicate', times: 1 },
      ],
      latency: { p95Ms: 200 },
      drawBy: 'request',
    });
  });

  test.for([
    { port: '70000' },
    { seed: 'x' },
    { tier: 'free' },
    { credits: '-1' },
    { lag: '1.5' },
    { drawBy: 'luck' },
    { fault: ['fire'] },
    { latency: ['slow'] },
  ])('refuse %j, and say why', (values) => {
    expect(() => xOptionsFromFlags(values)).toThrow(UsageError);
    expect(() => xOptionsFromFlags(values)).toThrow(String(Object.values(values).flat()[0]));
  });

  test('are all described, under the names that parsers give them', () => {
    const names = xFlags.map(({ flag }) =>
      (/^--([\w-]+)/.exec(flag)?.[1] ?? '').replaceAll(/-(\w)/g, (_, letter: string) =>
        letter.toUpperCase(),
      ),
    );
    expect(names).toEqual([
      'port',
      'controlPort',
      'seed',
      'tier',
      'clientId',
      'clientSecret',
      'credits',
      'lag',
      'fault',
      'latency',
      'drawBy',
    ]);
  });
});
