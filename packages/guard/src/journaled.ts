import type { ToolOperation } from '@toolkeel/contract';
import { FaultError, type AttemptContext } from '@toolkeel/kernel';
import { faultOfThrown } from './answers.js';
import type { ResponseFrame } from './frame.js';

/** Writes once the journal has recorded it. The journal may refuse: nothing was sent then. */
export async function journaled(
  operation: ToolOperation,
  write: () => Promise<ResponseFrame>,
  { signal }: AttemptContext,
): Promise<ResponseFrame> {
  let isWritten = false;
  const record = (): Promise<ResponseFrame> => {
    isWritten = true;
    return write();
  };
  try {
    return await operation.send(record, { signal });
  } catch (cause) {
    if (cause instanceof FaultError) throw cause;
    throw new FaultError(faultOfThrown(cause, isWritten));
  }
}
