import type { Arguments, CostEstimate, DelegatingCall, Tool, ToolSpec } from '@toolkeel/contract';
import type { Operation } from '../operation.js';
import { isEncrypted, type Encryption } from '../encryption/encryption.js';

export function encryptArguments(encryption: Encryption, id: string, args: Arguments): string {
  return encryption.encrypt(JSON.stringify(args), id);
}

/** The arguments as the caller requested them. */
export function requestedArguments(
  encryption: Pick<Encryption, 'decrypt'>,
  { id, args }: Pick<Operation, 'id' | 'args'>,
): Arguments {
  return JSON.parse(isEncrypted(args) ? encryption.decrypt(args, id) : args) as Arguments;
}

/** The arguments that are executed: as an operator edited them, else as requested. */
export function effectiveArguments(
  encryption: Pick<Encryption, 'decrypt'>,
  { id, args, approval }: Operation,
): Arguments {
  return requestedArguments(encryption, { id, args: approval?.editedArgs ?? args });
}

/** The calls on whose behalf a stored operation was made. */
export function storedDelegation(
  encryption: Pick<Encryption, 'decrypt'>,
  { id, approval }: Pick<Operation, 'id' | 'approval'>,
): readonly DelegatingCall[] | undefined {
  const stored = approval?.onBehalfOf;
  if (stored === undefined) return undefined;
  return JSON.parse(encryption.decrypt(stored, id)) as readonly DelegatingCall[];
}

const MASKED = '[sensitive]';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Masks sensitive arguments for display. Arguments of a mutation are JSON. */
export function maskSensitive(
  { sensitive }: Pick<ToolSpec, 'sensitive'>,
  args: Arguments,
): Record<string, Json> {
  const hidden: readonly string[] = sensitive;
  return Object.fromEntries(
    Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, hidden.includes(name) ? MASKED : (value as Json)]),
  );
}

/** The cost estimate of the tool, if it has one. A failing estimate never stops a call. */
export function estimateCost(
  tool: Pick<Tool, 'estimateCost'>,
  args: Arguments,
  report: (cause: unknown) => void,
): CostEstimate | undefined {
  try {
    return tool.estimateCost?.(args);
  } catch (cause) {
    report(cause);
    return undefined;
  }
}
