import { expect, it } from 'vitest';
import type { Operation, OperationState } from '../../../api/types.js';
import { executionText } from './outcomes.js';

const textOf = (state: OperationState, isPost = false, more: Partial<Operation> = {}): string =>
  executionText({ state, ...more } as Operation, isPost);

it('says what happened to an approved operation', () => {
  expect(textOf('succeeded', true)).toBe('Approved and posted.');
  expect(textOf('succeeded')).toBe('Approved and executed.');
  expect(textOf('reconciled', true, { outcome: 'executed' })).toBe('Approved and posted.');
  expect(textOf('reconciled', true, { outcome: 'not_executed' })).toMatch(/not executed/);
  expect(textOf('sending')).toMatch(/is being executed/);
  expect(textOf('unknown')).toMatch(/outcome is unknown/);
  expect(textOf('rejected')).toMatch(/the upstream rejected it/);
  expect(textOf('expired')).toBe('Approved, but not executed.');
});
