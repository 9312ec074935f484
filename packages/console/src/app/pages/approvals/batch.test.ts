import { expect, test } from 'vitest';
import type { ApprovalSummary } from '../../../api/types.js';
import { batchGroup, compareArguments } from './batch.js';

const approval = (id: string, tool: string, rule: string): ApprovalSummary => ({
  id,
  tool,
  account: 'x:1',
  effect: 'once',
  state: 'awaiting_approval',
  key: '',
  correlation_id: '',
  created_at: '',
  rule,
  explanation: '',
  hash: '',
  requested_at: '',
  expires_at: '',
  edited: false,
});
const all = [
  approval('a', 'post', 'r1'),
  approval('b', 'post', 'r1'),
  approval('c', 'post', 'r2'),
  approval('d', 'like', 'r1'),
];

test('a batch is of one tool and one rule', () => {
  expect(batchGroup(all, ['a', 'b'])).toEqual({ items: [all[0], all[1]] });
  expect(batchGroup(all, ['a', 'c']).refusal).toContain('one rule');
  expect(batchGroup(all, ['a', 'd']).refusal).toContain('one tool');
  expect(batchGroup(all, ['gone'])).toEqual({ items: [] });
});

test('what differs between the items is told apart from what all share', () => {
  const items = [
    { arguments: { text: 'a', to: ['x'] } },
    { arguments: { text: 'b', to: ['x'], at: 1 } },
  ];
  expect(compareArguments(items)).toEqual({ same: { to: ['x'] }, different: ['text', 'at'] });
});
