import { inspect } from 'node:util';

/**
 * A value that must not be seen. It has no public field that holds it, so that printing, logging,
 * spreading or serialising what contains it shows its name only. `reveal` is the one way in.
 */
export class Secret {
  readonly name: string;
  readonly #value: string;

  constructor(name: string, value: string) {
    this.name = name;
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return `[secret ${this.name}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [Symbol.toPrimitive](): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}
