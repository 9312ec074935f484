/** Comments, strings and punctuation are skipped as units, so that no keyword inside them counts. */
const TOKEN =
  /[\s,\uFEFF]+|#[^\n\r]*|"""(?:\\"""|[\s\S])*?"""|"(?:[^"\\\n\r]|\\.)*"|[_A-Za-z][_0-9A-Za-z]*|-?\d[\d.eE+-]*|\.\.\.|[!$&()[\]{}:=@|]/y;

export type OperationKind = 'query' | 'mutation' | 'subscription';

/** The operations of a GraphQL document; undefined if it is not well-formed enough to be sure. */
export function graphqlOperations(document: string): readonly OperationKind[] | undefined {
  const found: OperationKind[] = [];
  let depth = 0;
  let isInDefinition = false;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < document.length) {
    const token = TOKEN.exec(document)?.[0];
    if (token === undefined) return undefined;
    if (/^[\s,\uFEFF#"]/.test(token)) continue;
    if (token === '{' || token === '(' || token === '[') {
      if (depth === 0 && !isInDefinition) {
        if (token !== '{') return undefined;
        found.push('query');
        isInDefinition = true;
      }
      depth += 1;
    } else if (token === '}' || token === ')' || token === ']') {
      depth -= 1;
      if (depth < 0) return undefined;
      // A definition ends with its selection set; variables and directives come before it.
      if (depth === 0 && token === '}') isInDefinition = false;
    } else if (depth === 0 && !isInDefinition) {
      if (token === 'query' || token === 'mutation' || token === 'subscription') found.push(token);
      else if (token !== 'fragment') return undefined;
      isInDefinition = true;
    }
  }
  return depth === 0 && !isInDefinition && found.length > 0 ? found : undefined;
}

/** Whether a document contains queries only. What cannot be parsed is not read-only. */
export function isReadOnly(document: string): boolean {
  return graphqlOperations(document)?.every((kind) => kind === 'query') ?? false;
}
