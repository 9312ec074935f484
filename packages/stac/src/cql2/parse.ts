import { isDoc, type Doc } from '../json.js';
import { FilterProblem, Reader, tokensOf } from './lexer.js';
import { isGeometryWord, readWkt } from './wkt.js';

const MAX_DEPTH = 64;
const COMPARISONS = ['=', '<>', '<=', '>=', '<', '>'] as const;

/** CQL2 text as CQL2 JSON. Throws a `FilterProblem`. */
export function parseCql2(source: string): Doc {
  const parser = new Parser(new Reader(tokensOf(source)));
  return parser.whole();
}

/** Names of the standard are written with small letters in JSON; a server's own keep theirs. */
const STANDARD_FUNCTION = /^(s_|t_|a_)[a-z]+$|^(casei|accenti)$/i;

class Parser {
  readonly #in: Reader;
  #depth = 0;

  constructor(reader: Reader) {
    this.#in = reader;
  }

  whole(): Doc {
    const expression = this.#or();
    if (this.#in.peek.kind !== 'end') this.#in.fail('expected the end');
    if (!isDoc(expression)) throw new FilterProblem('is a value, not a condition');
    return expression;
  }

  #or(): unknown {
    if (++this.#depth > MAX_DEPTH) this.#in.fail('nested too deeply');
    const parts = [this.#and()];
    while (this.#in.takeWord('OR')) parts.push(this.#and());
    this.#depth--;
    return parts.length === 1 ? parts[0] : call('or', parts);
  }

  #and(): unknown {
    const parts = [this.#not()];
    while (this.#in.takeWord('AND')) parts.push(this.#not());
    return parts.length === 1 ? parts[0] : call('and', parts);
  }

  #not(): unknown {
    let negated = false;
    while (this.#in.takeWord('NOT')) negated = !negated;
    const predicate = this.#predicate();
    return negated ? call('not', [predicate]) : predicate;
  }

  #predicate(): unknown {
    const left = this.#sum();
    const mark = COMPARISONS.find((one) => this.#in.takeMark(one));
    if (mark) return call(mark, [left, this.#sum()]);
    if (this.#in.takeWord('IS')) {
      const negated = this.#in.takeWord('NOT');
      this.#in.needWord('NULL');
      return maybeNot(negated, call('isNull', [left]));
    }
    const negated = this.#in.takeWord('NOT');
    if (this.#in.takeWord('LIKE')) return maybeNot(negated, call('like', [left, this.#sum()]));
    if (this.#in.takeWord('BETWEEN')) {
      const low = this.#sum();
      this.#in.needWord('AND');
      return maybeNot(negated, call('between', [left, low, this.#sum()]));
    }
    if (this.#in.takeWord('IN')) return maybeNot(negated, call('in', [left, this.#list()]));
    if (negated) this.#in.fail('expected LIKE, BETWEEN or IN');
    return left;
  }

  #sum(): unknown {
    let left = this.#product();
    for (;;) {
      const op = ['+', '-'].find((mark) => this.#in.takeMark(mark));
      if (op === undefined) return left;
      left = call(op, [left, this.#product()]);
    }
  }

  #product(): unknown {
    let left = this.#power();
    for (;;) {
      const mark = ['*', '/', '%'].find((one) => this.#in.takeMark(one));
      const op = mark ?? (this.#in.takeWord('DIV') ? 'div' : undefined);
      if (op === undefined) return left;
      left = call(op, [left, this.#power()]);
    }
  }

  #power(): unknown {
    const base = this.#signed();
    return this.#in.takeMark('^') ? call('^', [base, this.#signed()]) : base;
  }

  #signed(): unknown {
    if (!this.#in.takeMark('-')) {
      this.#in.takeMark('+');
      return this.#primary();
    }
    const value = this.#primary();
    return typeof value === 'number' ? -value : call('*', [-1, value]);
  }

  #primary(): unknown {
    const { peek } = this.#in;
    if (peek.kind === 'number' || peek.kind === 'text') return this.#in.next().value;
    if (peek.kind === 'name') return this.#name(peek.value, peek.quoted);
    if (!this.#in.isMark('(')) this.#in.fail('expected a value');
    return this.#parenthesis();
  }

  /** An expression in parentheses, or a list of them. */
  #parenthesis(): unknown {
    this.#in.needMark('(');
    if (this.#in.takeMark(')')) return [];
    const first = this.#or();
    if (this.#in.takeMark(')')) return first;
    const rest = [first];
    while (this.#in.takeMark(',')) rest.push(this.#or());
    this.#in.needMark(')');
    return rest;
  }

  #list(): readonly unknown[] {
    if (!this.#in.isMark('(')) this.#in.fail('expected a list');
    const value = this.#parenthesis();
    return Array.isArray(value) ? value : [value];
  }

  #name(name: string, quoted: boolean): unknown {
    const word = name.toUpperCase();
    if (!quoted) {
      if (word === 'TRUE' || word === 'FALSE') {
        this.#in.next();
        return word === 'TRUE';
      }
      if (RESERVED.has(word)) this.#in.fail('expected a value');
      if (this.#in.marksNext('(')) return this.#call(name, word);
      if (isGeometryWord(name)) return readWkt(this.#in);
    }
    this.#in.next();
    return { property: name };
  }

  #call(name: string, word: string): unknown {
    if (isGeometryWord(name)) return readWkt(this.#in);
    this.#in.next();
    const args = this.#list();
    if (word === 'TIMESTAMP') return { timestamp: args[0] };
    if (word === 'DATE') return { date: args[0] };
    // Ends may be moments of their own: INTERVAL(DATE('…'), '..').
    if (word === 'INTERVAL') return { interval: args.map(plainMoment) };
    if (word === 'BBOX') return { bbox: args };
    return call(STANDARD_FUNCTION.test(name) ? name.toLowerCase() : name, args);
  }
}

const RESERVED: ReadonlySet<string> = new Set('AND OR NOT LIKE BETWEEN IN IS NULL DIV'.split(' '));

function call(op: string, args: readonly unknown[]): Doc {
  return { op, args };
}

function maybeNot(negated: boolean, expression: Doc): Doc {
  return negated ? call('not', [expression]) : expression;
}

function plainMoment(value: unknown): unknown {
  return isDoc(value) ? (value['timestamp'] ?? value['date'] ?? value) : value;
}
