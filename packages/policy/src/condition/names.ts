import type { PolicyTool } from '../catalogue.js';
import type { IssuePath } from '../config/issue.js';
import type { Names } from '../config/types.js';
import { glob, isPattern } from '../text/glob.js';
import { didYouMean } from '../text/nearest.js';
import type { Leaf, Report } from './node.js';
import { truth } from './truth.js';

/** Whom a condition can be about. */
export interface Scope {
  /** Every tool that there is. */
  readonly known: readonly PolicyTool[];
  /** Those that this condition is for: what changes something, unless it says otherwise. */
  readonly tools: readonly PolicyTool[];
  /** The accounts that are configured; undefined if nobody knows them beforehand. */
  readonly accounts?: readonly string[] | undefined;
}

export type NamedTrait = 'tool' | 'category' | 'effect';

const traitOf: Readonly<Record<NamedTrait, (tool: PolicyTool) => string>> = {
  tool: ({ name }) => name,
  category: ({ category }) => category,
  effect: ({ effect }) => effect,
};

/** One for each name, so that every single one is held against what there is. */
export function traitLeaves(
  trait: NamedTrait,
  names: Names,
  at: IssuePath,
  scope: Scope,
  report: Report,
): Leaf[] {
  return eachName(names, at).map(([name, path]) => {
    const fits = glob(name);
    const ofTool = (tool: PolicyTool): boolean => fits(traitOf[trait](tool));
    if (!scope.known.some(ofTool)) {
      report(path, unknownName(trait, name, scope.known.map(traitOf[trait])));
    } else if (!scope.tools.some(ofTool)) {
      report(
        path,
        'only reads, and this is about what changes something. Add "effect": "read" to mean it.',
      );
    }
    return {
      kind: 'leaf',
      at: path,
      words: `the ${trait} is ${name}`,
      isTrait: true,
      ofTool,
      test: () => 'unknown', // never asked: the tool has settled it before
      misfit: (tools) => (tools.some(ofTool) ? undefined : 'never fits the rest of this condition'),
      mayHold: ofTool,
    };
  });
}

export function accountLeaves(
  names: Names,
  at: IssuePath,
  { accounts }: Scope,
  report: Report,
): Leaf[] {
  return eachName(names, at).map(([name, path]) => {
    const fits = glob(name);
    if (accounts && !accounts.some(fits)) report(path, unknownName('account', name, accounts));
    return {
      kind: 'leaf',
      at: path,
      words: `the account is ${name}`,
      test: ({ account }) => (typeof account === 'string' ? truth(fits(account)) : 'unknown'),
      misfit: () => undefined,
      mayHold: () => true,
      observe: ({ account }) => account,
    };
  });
}

export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const hint = didYouMean(name, known);
  return isPattern(name) ? `matches no ${kind}.${hint}` : `is no ${kind} here.${hint}`;
}

function eachName(names: Names, at: IssuePath): [string, IssuePath][] {
  if (typeof names === 'string') return [[names, at]];
  return names.map((name, index) => [name, [...at, index]]);
}
