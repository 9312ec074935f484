import type { AcceptedCall } from '@toolkeel/contract';
import { keyGivenTo, type Operation } from '../operation.js';

type Asked = Pick<Operation, 'dedupKey' | 'key'> & Partial<Pick<Operation, 'approval'>>;

/**
 * The call with what was said to the journal when the operation was asked for, for the rules that name
 * it. A key may have stood beside the arguments, and what is carried out later has neither in them.
 */
export function asAsked(call: AcceptedCall, asked: Asked): AcceptedCall {
  const { controls } = call;
  const key = keyGivenTo(asked) ?? controls.idempotencyKey;
  const allowDuplicate = controls.allowDuplicate || asked.approval?.duplicate === true;
  if (key === controls.idempotencyKey && allowDuplicate === controls.allowDuplicate) return call;
  const said = key === undefined ? {} : { idempotencyKey: key };
  return { ...call, controls: { ...said, allowDuplicate } };
}
