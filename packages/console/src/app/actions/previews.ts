import { useEffect, useState } from 'preact/hooks';
import type { Action, Preview } from '../../api/types.js';
import type { Answer } from '../data/api.js';
import { api } from '../data/api.js';
import { live } from '../data/stream.js';
import { clock } from '../lib/clock.js';
import { toMs } from '../lib/format.js';

/** The time after the last key, or change of the state, before a preview is computed again. */
export const SETTLE_MS = 300;
/** A preview that changed by itself can be confirmed after this time. */
export const READ_MS = 1000;

/** Times that a preview names and that have passed: the preview is another one now. */
export const passedTimes = ({ checks }: Preview): number =>
  checks.filter(({ until }) => until !== undefined && toMs(until) <= clock.value).length;

type Answers = readonly Answer<Preview>[];

interface Held {
  readonly answers: Answers;
  readonly changedAt?: number;
}

/** Previews of several actions, computed again when the state changes, until `isOver`. */
export function usePreviews(
  actions: readonly Action[],
  isOver = false,
): {
  /** In the order of the actions. Undefined until they are known. */
  readonly answers: Answers | undefined;
  /** One of them changed by itself, and the operator has not had the time to read it. */
  readonly isNew: boolean;
} {
  const [held, setHeld] = useState<Held | undefined>(undefined);
  const { processes, operationsVersion = 0 } = live.value ?? {};
  const passed = (held?.answers ?? []).reduce(
    (sum, answer) => sum + (answer.ok ? passedTimes(answer.value) : 0),
    0,
  );
  useEffect(() => {
    if (isOver) return undefined;
    let isCurrent = true;
    const load = async (): Promise<void> => {
      const answers = await Promise.all(actions.map((action) => api.preview(action)));
      if (isCurrent) setHeld((before) => replaced(before, answers));
    };
    const timer = setTimeout(() => void load(), held ? SETTLE_MS : 0);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [processes, operationsVersion, passed, isOver]);
  return {
    answers: held?.answers,
    isNew: held?.changedAt !== undefined && clock.value - held.changedAt < READ_MS,
  };
}

function replaced(before: Held | undefined, next: Answers): Held {
  if (!before) return { answers: next };
  const answers = next.map((answer, at) => {
    const old = before.answers[at];
    // The page says that the connection is lost; the last preview stays.
    return !answer.ok && answer.failure.code === 'unreachable' && old ? old : answer;
  });
  const isSame = answers.every((answer, at) => versionOf(answer) === versionOf(before.answers[at]));
  return isSame ? { ...before, answers } : { answers, changedAt: Date.now() };
}

const versionOf = (answer: Answer<Preview> | undefined): string | undefined =>
  answer?.ok ? answer.value.version : undefined;
