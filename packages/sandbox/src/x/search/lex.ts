/** A piece of a search query, and where it stands, counted from 1. */
export type Token =
  | { readonly kind: 'open' | 'close' | 'or' | 'end'; readonly at: number }
  | {
      readonly kind: 'clause';
      readonly negated: boolean;
      readonly text: string;
      readonly at: number;
    };

const piece =
  /\s+|(?<open>-?\()|(?<close>\))|(?<clause>-?(?:[a-z_]+:)?(?:"(?:[^"\\]|\\.)*"|[^\s()"]+))|(?<stray>[^])/gy;

/** Throws nothing: what it cannot read is told as a position. */
export function tokens(query: string): { readonly list: Token[]; readonly stray?: number } {
  const list: Token[] = [];
  for (const match of query.matchAll(piece)) {
    const { open, close, clause, stray } = match.groups ?? {};
    const at = match.index + 1;
    if (stray !== undefined || open === '-(') return { list, stray: at };
    if (open) list.push({ kind: 'open', at });
    if (close) list.push({ kind: 'close', at });
    if (clause === 'OR') list.push({ kind: 'or', at });
    else if (clause !== undefined) {
      const negated = clause.startsWith('-') && clause.length > 1;
      list.push({ kind: 'clause', negated, text: negated ? clause.slice(1) : clause, at });
    }
  }
  list.push({ kind: 'end', at: query.length + 1 });
  return { list };
}
