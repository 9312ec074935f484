import { GraphQLError } from 'graphql/error/GraphQLError.js';
import type { OperationTypeNode, SelectionSetNode } from 'graphql/language/ast.js';
import { Kind } from 'graphql/language/kinds.js';
import { parse } from 'graphql/language/parser.js';
import { valueFromASTUntyped } from 'graphql/utilities/valueFromASTUntyped.js';

/** A selection of a GraphQL document, after fragments are inlined. */
export interface Selection {
  readonly name: string;
  readonly alias: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly fields: readonly Selection[];
}

interface Operation {
  readonly type: `${OperationTypeNode}`;
  readonly fields: readonly Selection[];
}

/** Parses a document and selects an operation. Throws a `GraphQLError` if there is none. */
export function parseOperation(
  source: string,
  variables: Readonly<Record<string, unknown>>,
  operationName?: string,
): Operation {
  const { definitions } = parse(source, { noLocation: true });
  const fragments = new Map(
    definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one.selectionSet] as const] : [],
    ),
  );
  const selectionsOf = (set: SelectionSetNode | undefined): Selection[] =>
    (set?.selections ?? []).flatMap((one): Selection[] => {
      if (one.kind === Kind.FRAGMENT_SPREAD) return selectionsOf(fragments.get(one.name.value));
      if (one.kind === Kind.INLINE_FRAGMENT) return selectionsOf(one.selectionSet);
      const { name, alias = name, arguments: given = [] } = one;
      const args = given.map((arg) => [arg.name.value, valueFromASTUntyped(arg.value, variables)]);
      return [
        {
          name: name.value,
          alias: alias.value,
          args: Object.fromEntries(args) as Selection['args'],
          fields: selectionsOf(one.selectionSet),
        },
      ];
    });
  const operation = definitions
    .filter((one) => one.kind === Kind.OPERATION_DEFINITION)
    .find(({ name }) => operationName === undefined || name?.value === operationName);
  if (!operation) throw new GraphQLError('No operation found');
  return { type: operation.operation, fields: selectionsOf(operation.selectionSet) };
}
