import { parseSync, Visitor } from 'oxc-parser';

export interface Import {
  /** Undefined if it is computed at run time. */
  readonly specifier: string | undefined;
  readonly line: number;
  /** Whether compilation removes the import. */
  readonly typeOnly: boolean;
}

export interface ParsedFile {
  readonly imports: readonly Import[];
  /** The first syntax error. */
  readonly error?: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
}

/** All imports of a TypeScript file, in every syntax. */
export const importsOf = (file: string, text: string): ParsedFile => {
  const { program, errors } = parseSync(file, text);
  const imports: Import[] = [];
  const add = (node: Node, source: Node | null, typeOnly: boolean): void => {
    const line = text.slice(0, node.start).split('\n').length;
    imports.push({ specifier: source ? literal(source) : undefined, line, typeOnly });
  };

  new Visitor({
    // Only the whole statement's `type` counts: `import { type A } from 'a'` still loads 'a'
    // under verbatimModuleSyntax.
    ImportDeclaration: (node) => add(node, node.source, node.importKind === 'type'),
    ExportAllDeclaration: (node) => add(node, node.source, node.exportKind === 'type'),
    ExportNamedDeclaration: (node) => {
      if (node.source) add(node, node.source, node.exportKind === 'type');
    },
    ImportExpression: (node) => add(node, node.source, false),
    TSImportType: (node) => add(node, node.source, true),
    TSExternalModuleReference: (node) => add(node, node.expression, false),
    CallExpression: (node) => {
      if (node.callee.type === 'Identifier' && node.callee.name === 'require')
        add(node, node.arguments[0] ?? null, false);
    },
  }).visit(program);

  imports.sort((a, b) => a.line - b.line);
  return { imports, ...(errors[0] && { error: errors[0].message }) };
};

const literal = (node: Node): string | undefined =>
  node.type === 'Literal' && 'value' in node && typeof node.value === 'string'
    ? node.value
    : undefined;
