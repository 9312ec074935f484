import { compareIds } from './snowflake.js';
import type { Lived, Moment, Visibility } from './visibility.js';

/** That somebody likes, follows or keeps something. Made anew it is another edge. */
export interface Edge extends Lived {
  readonly from: string;
  readonly to: string;
  /** Grows with time: lists are in its order. */
  readonly id: string;
}

export interface Relation {
  /** Is it so, whether reads show it yet or not? */
  readonly holds: (from: string, to: string) => Edge | undefined;
  /** Do reads show it? */
  readonly shows: (from: string, to: string) => boolean;
  readonly add: (from: string, to: string, id: string, made: Moment) => Edge;
  readonly remove: (from: string, to: string, gone: Moment) => Edge | undefined;
  /** What reads show, the newest first. */
  readonly of: (from: string) => Edge[];
  readonly to: (to: string) => Edge[];
  /** All that hold, in the order in which they were made. */
  readonly edges: () => Iterable<Edge>;
}

export function createRelation(visibility: Visibility): Relation {
  const bySource = new Map<string, Edge[]>();
  const byTarget = new Map<string, Edge[]>();
  const live = new Map<string, Edge>();
  const keyOf = (from: string, to: string): string => `${from} ${to}`;
  const enter = (index: Map<string, Edge[]>, key: string, edge: Edge): void => {
    const edges = index.get(key);
    if (edges) edges.push(edge);
    else index.set(key, [edge]);
  };
  const shown = (edges: readonly Edge[] = []): Edge[] =>
    edges.filter(visibility.shows).toSorted((a, b) => compareIds(b.id, a.id));

  return {
    holds: (from, to) => live.get(keyOf(from, to)),
    shows: (from, to) =>
      (bySource.get(from) ?? []).some((edge) => edge.to === to && visibility.shows(edge)),
    add: (from, to, id, made) => {
      const edge: Edge = { from, to, id, made };
      live.set(keyOf(from, to), edge);
      enter(bySource, from, edge);
      enter(byTarget, to, edge);
      return edge;
    },
    remove: (from, to, gone) => {
      const edge = live.get(keyOf(from, to));
      if (!edge) return undefined;
      live.delete(keyOf(from, to));
      edge.gone = gone;
      return edge;
    },
    of: (from) => shown(bySource.get(from)),
    to: (to) => shown(byTarget.get(to)),
    edges: () => live.values(),
  };
}
