import type { Operation, OperationState } from '../../../api/types.js';
import type { Tone } from '../../ui/basics.js';

export type Outcome = 'done' | 'unknown' | 'waiting' | 'running' | 'not_done';

interface Shown {
  readonly tone: Tone;
  /** After a number. */
  readonly label: string;
  readonly word: string;
  /** The states that it can have. */
  readonly states: readonly OperationState[];
}

/** What became of a mutation, in plain words. */
export const OUTCOMES: Readonly<Record<Outcome, Shown>> = {
  done: { tone: 'ok', label: 'done', word: 'Done', states: ['succeeded', 'reconciled'] },
  unknown: {
    tone: 'unknown',
    label: 'may have happened',
    word: 'May have happened',
    states: ['unknown'],
  },
  waiting: {
    tone: 'warn',
    label: 'need approval',
    word: 'Needs approval',
    states: ['awaiting_approval'],
  },
  running: {
    tone: 'info',
    label: 'in progress',
    word: 'In progress',
    states: ['claimed', 'sending', 'awaiting_approval'],
  },
  not_done: {
    tone: 'idle',
    label: 'not done',
    word: 'Not done',
    states: ['rejected', 'denied', 'expired', 'released', 'reconciled'],
  },
};

export const isOutcome = (text: string): text is Outcome => text in OUTCOMES;

export function outcomeOf({ state, outcome, approval }: Operation): Outcome {
  if (state === 'reconciled') return outcome === 'not_executed' ? 'not_done' : 'done';
  if (state === 'awaiting_approval') {
    return approval?.decision === 'approved' ? 'running' : 'waiting';
  }
  const names = Object.keys(OUTCOMES).filter(isOutcome);
  return names.find((name) => OUTCOMES[name].states.includes(state)) ?? 'running';
}

/** What happened to an approved operation, as a sentence. */
export function executionText(operation: Operation, isPost: boolean): string {
  switch (outcomeOf(operation)) {
    case 'done':
      return isPost ? 'Approved and posted.' : 'Approved and executed.';
    case 'unknown':
      return 'Approved and sent, but the outcome is unknown: it may have happened.';
    case 'waiting':
    case 'running':
      return 'Approved. It is being executed.';
    case 'not_done':
      return operation.state === 'rejected'
        ? 'Approved and sent, but the upstream rejected it.'
        : 'Approved, but not executed.';
  }
}
