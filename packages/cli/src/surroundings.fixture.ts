import type { RuntimeContext } from './surroundings.js';

export interface Watched extends RuntimeContext {
  readonly said: () => string;
  readonly complained: () => string;
}

/** A place of its own for a command, where everything that it says can be read. */
export function watchedSurroundings(given: Partial<RuntimeContext> = {}): Watched {
  let [out, err] = ['', ''];
  return {
    env: {},
    cwd: '/nowhere',
    stdout: { write: (text) => void (out += text), colours: false },
    stderr: { write: (text) => void (err += text), colours: false },
    isInteractive: false,
    confirm: () => Promise.reject(new Error('there is nobody to ask')),
    ...given,
    said: () => out,
    complained: () => err,
  };
}
