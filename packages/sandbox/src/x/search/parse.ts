import { invalid } from '../problem/problem.js';
import type { World } from '../world/world.js';
import { clauseFrom, type Clause, type Test } from './clause.js';
import { tokens, type Token } from './lex.js';

interface Parsed {
  readonly test: Test;
  /** Is there a clause in it that finds something by itself? */
  readonly standsAlone: boolean;
}

function wrong(query: string, why: string): Error {
  return invalid(`There were errors processing your request: ${why}`, { query: [query] });
}

const DEEPEST = 20;

/** A query as a test of posts. AND is a space and binds more than OR. */
export function parseQuery(query: string, world: World): Test {
  const { list, stray } = tokens(query);
  if (stray !== undefined)
    throw wrong(
      query,
      `no viable alternative at character '${query[stray - 1] ?? ''}' (at position ${stray})`,
    );
  let next = 0;
  const peek = (): Token => list[next] ?? { kind: 'end', at: query.length + 1 };

  const either = (depth: number): Parsed => {
    const sides = [all(depth)];
    while (peek().kind === 'or') {
      next += 1;
      sides.push(all(depth));
    }
    return {
      test: (post) => sides.some(({ test }) => test(post)),
      standsAlone: sides.every(({ standsAlone }) => standsAlone),
    };
  };
  const all = (depth: number): Parsed => {
    const parts = [one(depth)];
    while (peek().kind === 'clause' || peek().kind === 'open') parts.push(one(depth));
    return {
      test: (post) => parts.every(({ test }) => test(post)),
      standsAlone: parts.some(({ standsAlone }) => standsAlone),
    };
  };
  const one = (depth: number): Parsed => {
    const token = peek();
    next += 1;
    if (token.kind === 'clause') return clause(token);
    if (token.kind !== 'open' || depth > DEEPEST)
      throw wrong(query, `mismatched input (at position ${token.at})`);
    const inner = either(depth + 1);
    const end = peek();
    if (end.kind !== 'close') throw wrong(query, `missing ')' (at position ${end.at})`);
    next += 1;
    return inner;
  };
  const clause = ({ text, negated, at }: Token & { kind: 'clause' }): Parsed => {
    if (/^(?:and|or)$/i.test(text))
      throw wrong(
        query,
        `Ambiguous use of ${text.toLowerCase()} as a keyword. Use a space to logically join two clauses, or "${text.toLowerCase()}" to find occurrences of ${text.toLowerCase()} in text (at position ${at})`,
      );
    const known: Clause | undefined = clauseFrom(text, world);
    if (!known)
      throw wrong(
        query,
        `Reference to invalid operator '${text.split(':')[0] ?? ''}'. Operator is not available in current product or product packaging. (at position ${at})`,
      );
    if (!negated) return known;
    return { test: (post) => !known.test(post), standsAlone: false };
  };

  const { test, standsAlone } = either(0);
  if (peek().kind !== 'end') throw wrong(query, `extraneous input ')' (at position ${peek().at})`);
  if (!standsAlone)
    throw wrong(
      query,
      'Rules must contain at least one positive, non-stopword clause (at position 1)',
    );
  return test;
}
