import { badParameter, type Problem } from '../api/problem.js';
import { tokensOf, type Token } from './lex.js';

/** Tokens one after the other, with the questions that a parser asks of them. */
export interface Reader {
  readonly peek: (ahead?: number) => Token;
  readonly next: () => Token;
  /** Takes the keyword or sign if it comes next. */
  readonly takes: (text: string) => boolean;
  readonly expect: (text: string) => void;
  readonly unexpected: () => Problem;
}

export function readerOf(text: string): Reader {
  const tokens = tokensOf(text);
  const end: Token = { kind: 'end', text: '' };
  let at = 0;
  const peek = (ahead = 0): Token => tokens[at + ahead] ?? end;
  const is = ({ kind, text: found }: Token, wanted: string): boolean =>
    (kind === 'sign' && found === wanted) ||
    (kind === 'name' && found.toUpperCase() === wanted.toUpperCase());
  const takes = (wanted: string): boolean => {
    const found = is(peek(), wanted);
    if (found) at += 1;
    return found;
  };
  const unexpected = (): Problem => {
    const { kind, text: found } = peek();
    return badParameter('filter', kind === 'end' ? 'ends too early' : `"${found}" is unexpected`);
  };
  return {
    peek,
    takes,
    unexpected,
    next: () => {
      const token = peek();
      at += 1;
      return token;
    },
    expect: (wanted) => {
      if (!takes(wanted)) throw unexpected();
    },
  };
}
