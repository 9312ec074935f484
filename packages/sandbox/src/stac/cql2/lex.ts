import { badParameter } from '../api/problem.js';

export interface Token {
  readonly kind: 'name' | 'quoted' | 'string' | 'number' | 'sign' | 'end';
  readonly text: string;
}

// Names may hold colons and dots, as STAC's do; text doubles its quotes.
const PATTERN =
  /\s*(?:(?<name>[A-Za-z_:\u0080-\uffff][\w:.\u0080-\uffff]*)|"(?<quoted>[^"]+)"|'(?<string>(?:[^']|'')*)'|(?<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<sign><=|>=|<>|[=<>(),]))/y;

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const source = text.trimEnd();
  PATTERN.lastIndex = 0;
  while (PATTERN.lastIndex < source.length) {
    const from = PATTERN.lastIndex;
    const match = PATTERN.exec(source);
    if (!match?.groups)
      throw badParameter('filter', `cannot be read at "${source.slice(from, from + 20)}"`);
    tokens.push(tokenFrom(match.groups));
  }
  return [...tokens, { kind: 'end', text: '' }];
}

function tokenFrom(groups: Readonly<Record<string, string | undefined>>): Token {
  for (const kind of ['name', 'quoted', 'number', 'sign'] as const) {
    const text = groups[kind];
    if (text !== undefined) return { kind, text };
  }
  return { kind: 'string', text: (groups['string'] ?? '').replaceAll("''", "'") };
}
