import type { Check } from '@toolkeel/console';
import type { ApprovalPreview } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import { executionChecks } from './checks.js';
import { NOW, open, process } from './upstreams.fixture.js';

const preview = {
  operation: { tool: 'x_post', approval: {} },
  arguments: {},
  isChecked: true,
  limitsReached: [],
} as unknown as ApprovalPreview;
const checkOf = (name: Check['by'], ...upstreams: readonly (typeof open)[]) =>
  executionChecks(
    preview,
    upstreams.map((upstream, at) => process(at + 1, upstream)),
    NOW,
  ).find(({ by }) => by === name);
const circuitWith = (...upstreams: readonly (typeof open)[]) => checkOf('circuit', ...upstreams);
const halfOpen = { ...open, circuit: 'half_open' as const };
const closed = { ...open, circuit: 'closed' as const };

describe('the circuit of an upstream, before an approval', () => {
  it('blocks until its next probe', () => {
    expect(circuitWith(open)).toMatchObject({
      result: 'blocks',
      until: new Date(NOW + 10_000).toISOString(),
    });
  });

  it('passed when the operation would be its probe, although every request failed', () => {
    expect(circuitWith({ ...open, probeAt: NOW - 1 })).toMatchObject({
      result: 'warns',
      text: expect.stringContaining('may send this at once, as a test. It may fail') as string,
    });
  });

  it.for([
    ['a due test', { ...open, probeAt: NOW - 1 }],
    ['a half-open circuit', halfOpen],
    ['a closed circuit', closed],
  ] as const)('claimed that nothing is sent while another process had %s', ([, other]) => {
    const expected = { result: 'warns', text: expect.stringContaining('at once') as string };
    expect(circuitWith(open, other)).toMatchObject(expected);
    expect(circuitWith(other, open)).toMatchObject(expected);
  });

  it('blocks until the first process may send a test', () => {
    expect(circuitWith({ ...open, probeAt: NOW + 20_000 }, open)).toMatchObject({
      result: 'blocks',
      until: new Date(NOW + 10_000).toISOString(),
    });
  });

  it('passed while every request failed before the circuit opened', () => {
    const { probeAt: _, ...failing } = closed;
    expect(circuitWith(failing)).toMatchObject({ result: 'warns' });
  });

  it('passes if requests succeed', () => {
    const { probeAt: _, observed: __, ...healthy } = closed;
    expect(circuitWith(healthy)).toMatchObject({ result: 'passes' });
  });
});

it('a used-up rate limit stops an operation only if each process has seen it', () => {
  const used = { ...closed, limits: [{ limit: 50, remaining: 0, resetAt: NOW + 5000 }] };
  expect(checkOf('rate_limit', used, used)).toMatchObject({
    result: 'blocks',
    until: new Date(NOW + 5000).toISOString(),
  });
  expect(checkOf('rate_limit', used, closed)).toMatchObject({ result: 'warns' });
});
