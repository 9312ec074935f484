import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultFromText, latencyFromText, UsageError } from './rules.js';

describe('fault rules as strings', () => {
  test.for([
    ['http-503', { kind: 'http-503' }],
    [
      '20%:http-503@search;retry-after=2',
      { kind: 'http-503', rate: 0.2, routes: ['search'], retryAfter: { seconds: 2 } },
    ],
    ['0.04:stall', { kind: 'stall', rate: 0.04 }],
    [
      'http-500, half-body@item,search',
      { kind: ['http-500', 'half-body'], routes: ['item', 'search'] },
    ],
    [
      'http-429;retry-after=date+3;times=1;skip=2',
      { kind: 'http-429', retryAfter: { dateInSeconds: 3 }, times: 1, skip: 2 },
    ],
    ['http-429;retry-after=raw:a=b', { kind: 'http-429', retryAfter: { raw: 'a=b' } }],
    ['redirect;location=http://a/?b=c', { kind: 'redirect', location: 'http://a/?b=c' }],
    [
      'too-large-413;above-limit=50;method=post',
      { kind: 'too-large-413', aboveLimit: 50, methods: ['POST'] },
    ],
    ['drip;drip-ms=500;pace=0.5', { kind: 'drip', dripMs: 500, pace: 0.5 }],
    ['stall;stall-ms=100', { kind: 'stall', stallMs: 100 }],
  ] as const)('%s', ([text, rule]) => {
    expect(faultFromText(text)).toEqual(rule);
  });

  test.for([
    '',
    'fire',
    '200%:stall',
    '-1:stall',
    'stall;when=now',
    'stall;times=often',
    'http-503;retry-after=soon',
    '@search',
  ])('rejects %j', (text) => {
    expect(() => faultFromText(text)).toThrow(UsageError);
  });

  test('are parsed or rejected with a UsageError', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          faultFromText(text);
        } catch (cause) {
          expect(cause).toBeInstanceOf(UsageError);
        }
      }),
    );
  });
});

describe('latencies as strings', () => {
  test.for([
    [[], { fixedMs: 0 }],
    [['200'], { fixedMs: 200 }],
    [['fixed=5'], { fixedMs: 5 }],
    [['p95=200'], { p95Ms: 200 }],
    [
      ['p95=200,sigma=0.3', 'search:p95=400', 'asset:0'],
      { p95Ms: 200, sigma: 0.3, routes: { search: { p95Ms: 400 }, asset: { fixedMs: 0 } } },
    ],
  ] as const)('%j', ([texts, latency]) => {
    expect(latencyFromText(texts)).toEqual(latency);
  });

  test.for(['fast', 'p95', 'p50=3', 'p95=-1', 'search:'])('reject %j', (text) => {
    expect(() => latencyFromText([text])).toThrow(UsageError);
  });
});
