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
const circuitWith = (upstream: typeof open) =>
  executionChecks(preview, [process(1, upstream)], NOW).find(({ by }) => by === 'circuit');

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
      text: expect.stringContaining('sent as a test (circuit open). It may fail') as string,
    });
  });

  it('passed while every request failed before the circuit opened', () => {
    const { probeAt: _, ...failing } = { ...open, circuit: 'closed' as const };
    expect(circuitWith(failing)).toMatchObject({ result: 'warns' });
  });

  it('passes if requests succeed', () => {
    const { probeAt: _, observed: __, ...healthy } = { ...open, circuit: 'closed' as const };
    expect(circuitWith(healthy)).toMatchObject({ result: 'passes' });
  });
});
