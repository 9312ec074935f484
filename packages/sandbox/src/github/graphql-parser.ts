/** A selection of a GraphQL document, after fragments are inlined. */
export interface Selection {
  readonly name: string;
  readonly alias: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly fields: readonly Selection[];
}

export interface Operation {
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly fields: readonly Selection[];
}

export class GraphqlSyntaxError extends Error {
  override readonly name = 'GraphqlSyntaxError';
}

const TOKEN =
  /\s+|,|#[^\n]*|(?<block>"""[\s\S]*?""")|(?<string>"(?:[^"\\\n]|\\.)*")|(?<name>[_A-Za-z]\w*)|(?<number>-?\d+(?:\.\d+)?)|(?<sign>\.\.\.|[!$(){}[\]:=@|&])/y;

interface Token {
  readonly type: 'string' | 'name' | 'number' | 'sign';
  readonly text: string;
}

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(source);
    if (!found) throw new GraphqlSyntaxError(`Unexpected character at ${at}`);
    const { block, string, name, number, sign } = found.groups ?? {};
    if (block !== undefined) tokens.push({ type: 'string', text: block.slice(3, -3) });
    else if (string !== undefined)
      tokens.push({ type: 'string', text: JSON.parse(string) as string });
    else if (name !== undefined) tokens.push({ type: 'name', text: name });
    else if (number !== undefined) tokens.push({ type: 'number', text: number });
    else if (sign !== undefined) tokens.push({ type: 'sign', text: sign });
  }
  return tokens;
}

type Variables = Readonly<Record<string, unknown>>;

/** Parses the subset of GraphQL that clients of the sandbox use: operations, fragments, arguments, variables. */
export function parseOperation(
  source: string,
  variables: Variables,
  operationName?: string,
): Operation {
  const tokens = tokensOf(source);
  let at = 0;
  const peek = (text: string): boolean =>
    tokens[at]?.text === text && tokens[at]?.type !== 'string';
  const next = (): Token => {
    const token = tokens[at];
    if (!token) throw new GraphqlSyntaxError('Unexpected end of document');
    at += 1;
    return token;
  };
  const expect = (text: string): void => {
    const token = next();
    if (token.text !== text) throw new GraphqlSyntaxError(`Expected ${text}, found ${token.text}`);
  };
  const accept = (text: string): boolean => {
    if (!peek(text)) return false;
    at += 1;
    return true;
  };
  const value = (): unknown => {
    if (accept('$')) return variables[next().text];
    if (accept('[')) {
      const list: unknown[] = [];
      while (!accept(']')) list.push(value());
      return list;
    }
    if (accept('{')) {
      const object: Record<string, unknown> = {};
      while (!accept('}')) {
        const { text } = next();
        expect(':');
        object[text] = value();
      }
      return object;
    }
    const { type, text } = next();
    if (type === 'number') return Number(text);
    if (type === 'string') return text;
    return { true: true, false: false, null: null }[text] ?? (text === 'null' ? null : text);
  };
  const args = (): Record<string, unknown> => {
    const given: Record<string, unknown> = {};
    if (!accept('(')) return given;
    while (!accept(')')) {
      const { text } = next();
      expect(':');
      given[text] = value();
    }
    return given;
  };
  const skipDirectives = (): void => {
    while (accept('@')) {
      next();
      args();
    }
  };
  type Raw = Selection | { readonly spread: string } | { readonly inline: readonly Raw[] };
  const selections = (): Raw[] => {
    const found: Raw[] = [];
    expect('{');
    while (!accept('}')) {
      if (accept('...')) {
        if (peek('on') || peek('{') || peek('@')) {
          if (accept('on')) next();
          skipDirectives();
          found.push({ inline: selections() });
        } else {
          found.push({ spread: next().text });
          skipDirectives();
        }
        continue;
      }
      const first = next().text;
      const name = accept(':') ? next().text : first;
      const given = args();
      skipDirectives();
      const fields = peek('{') ? selections() : [];
      found.push({ name, alias: first, args: given, fields: fields as Selection[] });
    }
    return found;
  };
  const operations = new Map<string, { type: Operation['type']; fields: Raw[] }>();
  const fragments = new Map<string, Raw[]>();
  while (at < tokens.length) {
    if (peek('{')) {
      operations.set('', { type: 'query', fields: selections() });
      continue;
    }
    const type = next().text;
    if (type === 'fragment') {
      const { text } = next();
      expect('on');
      next();
      skipDirectives();
      fragments.set(text, selections());
      continue;
    }
    if (type !== 'query' && type !== 'mutation' && type !== 'subscription')
      throw new GraphqlSyntaxError(`Unexpected ${type}`);
    const name = peek('{') || peek('(') || peek('@') ? '' : next().text;
    if (accept('(')) while (!accept(')')) next();
    skipDirectives();
    operations.set(name, { type, fields: selections() });
  }
  const flatten = (raw: readonly Raw[]): Selection[] =>
    raw.flatMap((one): Selection[] => {
      if ('spread' in one) return flatten(fragments.get(one.spread) ?? []);
      if ('inline' in one) return flatten(one.inline);
      return [{ ...one, fields: flatten(one.fields) }];
    });
  const chosen =
    operationName === undefined ? [...operations.values()].at(0) : operations.get(operationName);
  if (!chosen) throw new GraphqlSyntaxError('No operation found');
  return { type: chosen.type, fields: flatten(chosen.fields) };
}
