import { createRedactor } from '@toolkeel/pack-kit';
import { Secret } from './secret.js';

/** All secrets that this process knows, to redact them in whatever leaves it. */
export class Secrets {
  readonly #redactor = createRedactor();

  /** Remembers a value and wraps it. */
  add(name: string, value: string): Secret {
    this.watch(value);
    return new Secret(name, value);
  }

  /** Remembers a value for the lifetime of the process. */
  watch(value: string): void {
    this.#redactor.add(value);
  }

  /** Remembers a value that is replaced again and again: only the latest are kept. */
  readonly watchPassing = (value: string): void => {
    this.#redactor.addRotating(value);
  };

  /** Redacts text. A JSON document stays one. */
  readonly scrub = (text: string): string => this.#redactor.redact(text);
}
