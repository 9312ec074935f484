import type { PolicyTool } from '../catalogue.js';
import type { Operators } from '../config/types.js';
import { operators as table } from '../condition/operators.js';
import { every, type Truth } from '../condition/truth.js';
import type { Segment } from '../paths/path.js';
import { canTell } from './can-tell.js';
import { isImpossible } from './impossible.js';
import { shapeWords } from './shape-words.js';
import { sureAt } from './sure-shapes.js';

/** What a tool's schema makes certain of a question about an argument. */
export interface Certainty {
  /** Why no argument that the tool takes can be as all of these ask; undefined if one may. */
  readonly never: (tool: PolicyTool, all: readonly Operators[]) => string | undefined;
  /** Whether the answer is yes or no for every argument that the tool takes. */
  readonly canTell: (tool: PolicyTool) => boolean;
  readonly own: Operators;
  /** Two questions with the same are the same question. */
  readonly same: string;
}

export function certaintyOf(path: string, segments: readonly Segment[], own: Operators): Certainty {
  return {
    own,
    same: `${path} ${JSON.stringify(Object.entries(own).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`,
    never: ({ name, inputSchema }, all) => {
      const sure = sureAt(inputSchema, segments);
      if (!sure) return undefined;
      const { shapes, isGiven } = sure;
      if (all.some(({ exists }) => exists === false)) {
        return isGiven ? `in ${name} it is always given` : undefined;
      }
      const question = { asked: all, test: testOf(all) };
      if (!shapes.every((shape) => isImpossible(shape, question, inputSchema))) return undefined;
      return shapes.length === 0
        ? `in ${name} nothing can be there`
        : `in ${name} it is ${shapes.map(shapeWords).join(' or ')}`;
    },
    canTell: ({ inputSchema }) => {
      const sure = sureAt(inputSchema, segments);
      return sure?.shapes.every((shape) => canTell(shape, own, testOf([own]))) ?? false;
    },
  };
}

function testOf(all: readonly Operators[]): (value: unknown) => Truth {
  const tests = all.flatMap((asked) =>
    (Object.keys(asked) as (keyof Operators)[]).map((name) =>
      (table[name].test as (operand: unknown) => (value: unknown) => Truth)(asked[name]),
    ),
  );
  return (value) => every(tests, (test) => test(value));
}
