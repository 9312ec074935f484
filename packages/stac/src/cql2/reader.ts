import type { Token } from './lexer.js';
import { FilterProblem } from './problem.js';

/** Tokens, one after the other. */
export class Reader {
  readonly #tokens: readonly Token[];
  #index = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get peek(): Token {
    return this.#tokens[this.#index] ?? this.#tokens.at(-1)!;
  }

  next(): Token {
    const token = this.peek;
    this.#index++;
    return token;
  }

  isMark(value: string): boolean {
    return this.peek.kind === 'mark' && this.peek.value === value;
  }

  isWord(word: string, token: Token = this.peek): boolean {
    return token.kind === 'name' && !token.quoted && token.value.toUpperCase() === word;
  }

  /** Whether the token after the next one is a mark. */
  marksNext(value: string): boolean {
    const token = this.#tokens[this.#index + 1];
    return token?.kind === 'mark' && token.value === value;
  }

  takeMark(value: string): boolean {
    const found = this.isMark(value);
    if (found) this.#index++;
    return found;
  }

  takeWord(word: string): boolean {
    const found = this.isWord(word);
    if (found) this.#index++;
    return found;
  }

  needMark(value: string): void {
    if (!this.takeMark(value)) this.fail(`expected "${value}"`);
  }

  needWord(word: string): void {
    if (!this.takeWord(word)) this.fail(`expected ${word}`);
  }

  fail(what: string): never {
    const { kind, value, at } = this.peek;
    throw new FilterProblem(`${what} at ${at}, found ${kind === 'end' ? 'the end' : `"${value}"`}`);
  }
}
