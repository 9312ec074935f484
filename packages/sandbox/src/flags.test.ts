import { describe, expect, test } from 'vitest';
import { UsageError } from './faults/rules.js';
import {
  stacFlags,
  stacOptionsFromFlags,
  xFlags,
  xOptionsFromFlags,
  type FlagValues,
} from './flags.js';

describe.for([
  {
    sandbox: 'STAC',
    flags: stacFlags,
    read: stacOptionsFromFlags,
    given: {
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
    },
    options: {
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
    },
    invalid: [
      { port: '70000' },
      { port: 'http' },
      { seed: '-1' },
      { scale: '0' },
      { flavour: 'vanilla' },
      { drawBy: 'luck' },
      { requireHeader: 'nonsense' },
      { fault: ['fire'] },
      { latency: ['slow'] },
    ],
  },
  {
    sandbox: 'X',
    flags: xFlags,
    read: xOptionsFromFlags,
    given: {
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
    },
    options: {
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
    },
    invalid: [
      { port: '70000' },
      { seed: 'x' },
      { tier: 'free' },
      { credits: '-1' },
      { lag: '1.5' },
      { drawBy: 'luck' },
      { fault: ['fire'] },
      { latency: ['slow'] },
    ],
  },
])('$sandbox flags', ({ flags, read, given, options, invalid }) => {
  test('set the options', () => {
    expect(read({})).toEqual({});
    expect(read(given)).toEqual(options);
  });

  test.for<FlagValues>(invalid as FlagValues[])('reject %j and name the value', (values) => {
    expect(() => read(values)).toThrow(UsageError);
    expect(() => read(values)).toThrow(String(Object.values(values).flat()[0]));
  });

  test('are declared in order, under the names that parsers give them', () => {
    const names = flags.map(({ flag }) =>
      (/^--([\w-]+)/.exec(flag)?.[1] ?? '').replaceAll(/-(\w)/g, (_, letter: string) =>
        letter.toUpperCase(),
      ),
    );
    expect(names).toEqual(Object.keys(given));
  });
});
