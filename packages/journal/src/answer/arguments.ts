import type { Arguments } from '@toolkeel/contract';
import type { Operation } from '../operation.js';
import { isSealed, type Sealing } from '../sealing/sealing.js';

type Opens = Pick<Sealing, 'open'>;

/** The arguments that an operation was begun with. */
export function openArguments(sealing: Opens, { id, args }: Operation): Arguments {
  return JSON.parse(isSealed(args) ? sealing.open(args, id) : args) as Arguments;
}

/** The arguments that are carried out: as a person edited them, if one did. */
export function effectiveArguments(sealing: Opens, operation: Operation): Arguments {
  const { args, approval } = operation;
  return openArguments(sealing, { ...operation, args: approval?.editedArgs ?? args });
}
