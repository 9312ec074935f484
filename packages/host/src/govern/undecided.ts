import type { Decided } from '@toolkeel/journal';

interface Undecided {
  readonly message: string;
  readonly whatToDo: string;
}

const WHY: Readonly<Record<Exclude<Decided['kind'], 'decided'>, Undecided>> = {
  already: {
    message: 'Somebody has decided already.',
    whatToDo: 'Look at the operation to see who, and what.',
  },
  changed: {
    message: 'The arguments are not those of this hash: somebody has edited them.',
    whatToDo: 'Look at the operation again, and decide with its new hash.',
  },
  expired: {
    message: 'The time for a decision is over.',
    whatToDo: 'The agent has to ask again.',
  },
  not_waiting: {
    message: 'The operation does not wait for a person.',
    whatToDo: 'Look at the operation to see where it is.',
  },
};

/** Why a decision changed nothing, for whoever made it. */
export function undecided(kind: Exclude<Decided['kind'], 'decided'>): Undecided {
  return WHY[kind];
}
