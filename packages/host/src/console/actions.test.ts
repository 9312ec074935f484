import type { ApprovalPreview, OperationView } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import { amountText, act, previewAction, type ActionDeps } from './actions.js';
import { NOW, open, process } from './upstreams.fixture.js';

const operation = {
  id: 'o1',
  tool: 'x_post',
  account: 'me',
  effect: 'once',
  state: 'awaiting_approval',
  steps: [],
  approval: { hash: 'h', edited: false, expires_at: new Date(NOW + 60_000).toISOString() },
} as unknown as OperationView;
const previewed = {
  operation,
  arguments: {},
  hash: 'h',
  isChecked: true,
  limitsReached: [],
} as unknown as ApprovalPreview;
const depsWith = (upstream: typeof open): ActionDeps => ({
  journal: {
    operations: { show: () => Promise.resolve(operation) },
    approvals: { preview: () => Promise.resolve(previewed) },
  } as unknown as ActionDeps['journal'],
  processes: [process(1, upstream)],
  now: NOW,
  by: 'operator',
  textPreview: () => Promise.resolve(undefined),
});
const approve = { action: 'approve', operation_id: 'o1' } as const;

describe('an approval while an upstream fails', () => {
  it('for later promised that the operation is executed once the upstream works', async () => {
    const { consequences } = await previewAction(depsWith(open), approve);
    expect(consequences[0]).toMatch(/^Nothing is sent now\./);
    expect(consequences.join(' ')).toContain('may be the test itself');
    expect(consequences.join(' ')).toContain('unknown outcome');
  });

  it('was executed although the circuit failed only after the preview', async () => {
    const { probeAt: _, observed: __, ...healthy } = { ...open, circuit: 'closed' as const };
    const { version } = await previewAction(depsWith(healthy), approve);
    await expect(
      act(depsWith({ ...open, circuit: 'half_open' }), approve, version),
    ).rejects.toMatchObject({
      body: {
        difference: [
          { field: 'circuit', was: 'does not stop it', is: 'does not stop it, but it may fail' },
        ],
      },
    });
  });
});

it('writes a cost as the pages do', () => {
  const texts = [[1, 'post'] as const, [0.2, 'USD'] as const, [0.015, 'USD'] as const].map(
    ([amount, unit]) => amountText({ amount, unit }),
  );
  expect(texts).toEqual(['1 post', '0.20 USD', '0.015 USD']);
});
