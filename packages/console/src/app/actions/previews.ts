import { useEffect, useState } from 'preact/hooks';
import type { Action, Preview } from '../../api/types.js';
import type { Answer } from '../data/api.js';
import { api } from '../data/api.js';
import { live } from '../data/stream.js';
import { clock } from '../lib/clock.js';
import { toMs } from '../lib/format.js';
import { changeText, type Change } from './changed.js';

/** The time after the last key, or change of the state, before a preview is computed again. */
export const SETTLE_MS = 300;

/** Times that a preview names and that have passed: the preview is another one now. */
export const passedTimes = ({ checks }: Preview): number =>
  checks.filter(({ until }) => until !== undefined && toMs(until) <= clock.value).length;

type Answers = readonly Answer<Preview>[];

interface Held {
  readonly answers: Answers;
  readonly change?: Change;
}

/** Previews of several actions, computed again when the state changes, until `isOver`. */
export function usePreviews(
  actions: readonly Action[],
  isOver = false,
): {
  /** In the order of the actions. Undefined until they are known. */
  readonly answers: Answers | undefined;
  /** The last time that one of them changed by itself. */
  readonly change: Change | undefined;
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
    change: held?.change,
  };
}

function replaced(before: Held | undefined, next: Answers): Held {
  if (!before) return { answers: next };
  const answers = next.map((answer, at) => {
    const old = before.answers[at];
    // The page says that the connection is lost; the last preview stays.
    return !answer.ok && answer.failure.code === 'unreachable' && old ? old : answer;
  });
  const text = answers.map((answer, at) => changeOf(before.answers[at], answer)).find(Boolean);
  return text === undefined
    ? { ...before, answers }
    : { answers, change: { at: Date.now(), text } };
}

function changeOf(was: Answer<Preview> | undefined, is: Answer<Preview>): string | undefined {
  if (was?.ok && is.ok) return changeText(was.value, is.value);
  return was?.ok === is.ok ? undefined : 'the state. Read it again.';
}
