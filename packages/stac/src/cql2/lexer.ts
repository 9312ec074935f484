type Token =
  | { readonly kind: 'number'; readonly value: number; readonly at: number }
  | { readonly kind: 'text'; readonly value: string; readonly at: number }
  /** `quoted` names are never keywords. */
  | { readonly kind: 'name'; readonly value: string; readonly quoted: boolean; readonly at: number }
  | { readonly kind: 'mark'; readonly value: string; readonly at: number }
  | { readonly kind: 'end'; readonly value: ''; readonly at: number };

const FORMS = {
  space: /\s+/y,
  number: /\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?/y,
  text: /'(?:[^']|'')*'/y,
  quoted: /"(?:[^"]|"")*"/y,
  name: /[\p{L}_:][\p{L}\p{N}_:.]*/uy,
  mark: /<>|<=|>=|[=<>(),+\-*/%^]/y,
};

const MAX_LENGTH = 20_000;

/** Splits CQL2 text into tokens. */
export function tokensOf(source: string): readonly Token[] {
  if (source.length > MAX_LENGTH)
    throw new FilterSyntaxError(`longer than ${MAX_LENGTH} characters`);
  const tokens: Token[] = [];
  let at = 0;
  const take = (form: RegExp): string | undefined => {
    form.lastIndex = at;
    const found = form.exec(source)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  while (at < source.length) {
    if (take(FORMS.space) !== undefined) continue;
    const from = at;
    const token = next(take, from);
    if (!token)
      throw new FilterSyntaxError(`unexpected "${source.slice(from, from + 12)}" at ${from}`);
    tokens.push(token);
  }
  return [...tokens, { kind: 'end', value: '', at }];
}

function next(take: (form: RegExp) => string | undefined, at: number): Token | undefined {
  const number = take(FORMS.number);
  if (number !== undefined) return { kind: 'number', value: Number(number), at };
  const text = take(FORMS.text);
  if (text !== undefined) return { kind: 'text', value: unquote(text), at };
  const quoted = take(FORMS.quoted);
  if (quoted !== undefined) {
    const value = quoted.slice(1, -1).replaceAll('""', '"');
    return { kind: 'name', value, quoted: true, at };
  }
  const name = take(FORMS.name);
  if (name !== undefined) return { kind: 'name', value: name, quoted: false, at };
  const mark = take(FORMS.mark);
  return mark === undefined ? undefined : { kind: 'mark', value: mark, at };
}

function unquote(text: string): string {
  return text.slice(1, -1).replaceAll("''", "'");
}

/** A token stream with one token of lookahead. */
export class TokenReader {
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

  /** Whether the token after the next one is this mark. */
  isMarkAfterNext(value: string): boolean {
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
    throw new FilterSyntaxError(
      `${what} at ${at}, found ${kind === 'end' ? 'the end' : `"${value}"`}`,
    );
  }
}

/** A syntax error in a CQL2 filter, with its position. */
export class FilterSyntaxError extends Error {
  override readonly name = 'FilterSyntaxError';
}
