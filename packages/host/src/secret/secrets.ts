import { inspect } from 'node:util';
import type { ToolRun } from '@toolkeel/contract';
import { createRedactor } from '@toolkeel/pack-kit/base';
import { ProtocolError } from '@modelcontextprotocol/server';

/**
 * A secret value. Printing, logging, spreading or serializing an object that contains it shows only
 * its name; `reveal` is the only way to read the value.
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

/** The secrets that this process knows, for redaction in all output. */
export class Secrets {
  readonly #redactor = createRedactor();

  /** Registers a value and wraps it. */
  add(name: string, value: string): Secret {
    this.watch(value);
    return new Secret(name, value);
  }

  /** Registers a value for the lifetime of the process. */
  watch(value: string): void {
    this.#redactor.add(value);
  }

  /** Registers a value that is replaced regularly: only the latest values are kept. */
  readonly watchRotating = (value: string): void => {
    this.#redactor.addRotating(value);
  };

  /** Redacts a string. A JSON document stays valid JSON. */
  readonly scrub = (text: string): string => this.#redactor.redact(text);
}

/** Redacts secrets in all output of the process. */
export interface Scrub {
  readonly text: (text: string) => string;
  readonly run: (run: Pick<ToolRun, 'envelope' | 'text'>) => Pick<ToolRun, 'envelope' | 'text'>;
  readonly value: <T>(value: T) => T;
  readonly error: (error: ProtocolError) => ProtocolError;
}

/**
 * Extends the redaction of strings to values. Most results contain no secret, so the usual cost is one
 * search of their JSON; only redacted JSON is parsed again.
 */
export function scrubWith(text: (text: string) => string): Scrub {
  const value = <T>(given: T): T => {
    const json = JSON.stringify(given) as string | undefined;
    if (json === undefined) return given;
    const redacted = text(json);
    return redacted === json ? given : (JSON.parse(redacted) as T);
  };
  return {
    text,
    value,
    run: (run) => {
      const redacted = text(run.text);
      if (redacted === run.text) return run;
      return { text: redacted, envelope: JSON.parse(redacted) as ToolRun['envelope'] };
    },
    error: (error) => {
      const message = text(error.message);
      const data = value(error.data);
      const isUnchanged = message === error.message && data === error.data;
      return isUnchanged ? error : new ProtocolError(error.code, message, data);
    },
  };
}
