import type { Arguments } from '@toolkeel/contract';
import type { Operation } from '../operation.js';
import { isEncrypted, type Encryption } from '../encryption/encryption.js';

type Opens = Pick<Encryption, 'decrypt'>;

/** The arguments that an operation was begun with. */
export function openArguments(encryption: Opens, { id, args }: Operation): Arguments {
  return JSON.parse(isEncrypted(args) ? encryption.decrypt(args, id) : args) as Arguments;
}

/** The arguments that are carried out: as a person edited them, if one did. */
export function effectiveArguments(encryption: Opens, operation: Operation): Arguments {
  const { args, approval } = operation;
  return openArguments(encryption, { ...operation, args: approval?.editedArgs ?? args });
}
