import type { Arguments } from '@toolkeel/contract';
import type { Operation } from '../operation.js';
import type { Seals } from '../options.js';

/** The arguments that an operation was begun with. */
export function openArguments(seals: Seals, { args }: Pick<Operation, 'args'>): Arguments {
  return JSON.parse(args.startsWith('{') ? args : seals.open(args)) as Arguments;
}

/** The arguments that are carried out: as a person edited them, if one did. */
export function effectiveArguments(seals: Seals, { args, approval }: Operation): Arguments {
  return openArguments(seals, { args: approval?.editedArgs ?? args });
}
