import type { Decided } from '@toolkeel/journal';

interface Undecided {
  readonly message: string;
  readonly whatToDo: string;
}

type Kind = Exclude<Decided['kind'], 'decided'>;

const WHY: Readonly<Record<Exclude<Kind, 'changed'>, Undecided>> = {
  already: {
    message: 'The operation has already been decided.',
    whatToDo: 'Show the operation to see by whom, and how.',
  },
  expired: {
    message: 'The approval has expired.',
    whatToDo: 'The agent has to request it again.',
  },
  not_waiting: {
    message: 'The operation does not await approval.',
    whatToDo: 'Show the operation to see its state.',
  },
};

/** Why a decision changed nothing, for the operator who made it. */
export function undecided({ kind, operation }: Decided & { readonly kind: Kind }): Undecided {
  if (kind !== 'changed') return WHY[kind];
  const { edited_by: by, edited_at: at, edited } = operation.approval ?? {};
  if (!edited) {
    return {
      message: 'The hash does not match: it is not the hash of the arguments of this operation.',
      whatToDo: 'Show the operation, and copy its whole hash.',
    };
  }
  const when = by === undefined || at === undefined ? '' : ` by ${by} at ${at}`;
  return {
    message: `The hash does not match the arguments, which were edited${when}.`,
    whatToDo: 'Show the operation again, and decide with its present hash.',
  };
}
