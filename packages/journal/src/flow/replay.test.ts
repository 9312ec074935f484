import { toolError, type Settled } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { writeAnswer } from '../answer/answer.js';
import type { Operation, OperationState } from '../operation.js';
import { idempotencyMeta, replayedAnswer } from './replay.js';

const operation = (state: OperationState, answer?: Settled | string): Operation => ({
  id: 'op_1',
  account: 'main',
  tool: 'post',
  effect: 'once',
  dedupKey: { by: 'content', value: 'x' },
  argsHash: 'x',
  args: '{}',
  state,
  fence: 1,
  correlationId: 'c',
  createdAt: 0,
  holdsDedupKey: true,
  steps: [],
  ...(answer !== undefined && {
    answer: typeof answer === 'string' ? answer : writeAnswer(answer),
  }),
});
const part: Settled = { ok: false, error: toolError('thread_partial_failure', 'Half.').input };

describe('the replayed answer', () => {
  it('of an unknown operation is not the answer of an earlier run', () => {
    expect(replayedAnswer(operation('unknown', part))).toMatchObject({
      error: { code: 'outcome_unknown', operationId: 'op_1' },
    });
  });

  it.each(['not json', '[]', '{"ok":1}', '{"ok":true}', '{"ok":false}', 'null'])(
    'of an operation with an unreadable answer reports that: %s',
    (answer) => {
      expect(
        replayedAnswer({ ...operation('succeeded', answer), outcome: 'executed' }),
      ).toMatchObject({
        ok: false,
        error: { code: 'internal_error', outcome: 'executed', operationId: 'op_1' },
      });
    },
  );

  it('names the act by the caller’s key, or by a short name that does not reveal its content', () => {
    const named = { ...operation('succeeded'), dedupKey: { by: 'key', value: 'k1' } } as const;
    expect(idempotencyMeta(named, true, named).key).toBe('k1');
    const plain = operation('succeeded');
    expect(idempotencyMeta(plain, true, plain).key).toMatch(/^content:[0-9a-f]{16}$/);
    const both = { ...plain, dedupKey: { by: 'template', value: 'reply:1' }, key: 'k1' } as const;
    expect(idempotencyMeta(both, true, both).key).toBe('k1');
    // The keys of other callers are not disclosed.
    for (const other of [plain, { ...both, key: 'k2' }]) {
      expect(idempotencyMeta(both, true, other).key).toMatch(/^template:[0-9a-f]{16}$/);
    }
  });
});
