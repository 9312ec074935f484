import { useEffect, useState } from 'preact/hooks';
import type { Answer, Failure } from './api.js';

/** Data of one page. `value` stays while it is loaded again, so that nothing jumps. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** Loads when a key changes; `version` loads again without dropping what is shown. */
export function useLoad<T>(
  load: () => Promise<Answer<T>>,
  key: string,
  version: number | string = 0,
): Loaded<T> {
  const [held, setHeld] = useState<{ key: string; value?: T; failure?: Failure }>({ key });
  const [turn, setTurn] = useState(0);
  const [isLoading, setLoading] = useState(true);
  useEffect(() => {
    let isCurrent = true;
    setLoading(true);
    void load().then((answer) => {
      if (!isCurrent) return;
      setLoading(false);
      setHeld((before) => {
        if (answer.ok) return { key, value: answer.value };
        const old = before.key === key && before.value !== undefined ? { value: before.value } : {};
        return { key, ...old, failure: answer.failure };
      });
    });
    return () => {
      isCurrent = false;
    };
  }, [key, version, turn]);
  const isOf = held.key === key;
  return {
    value: isOf ? held.value : undefined,
    failure: isOf ? held.failure : undefined,
    isLoading,
    reload: () => setTurn(turn + 1),
  };
}
