import { checkIdempotency, checkRateLimit } from '../envelope/meta.js';
import type { Tool } from '../tool/tool.js';
import type { Call } from './call.js';
import { checkedJson, checkedPart, refusedAnswer } from './check-data.js';
import type { Settled } from './options.js';

/**
 * What may go into an envelope. Data that the handler gave in this call has been checked already;
 * any other came from whoever stood around it, out of a store for example, and is checked now.
 */
export function vet(
  tool: Tool,
  settled: Settled,
  checked: readonly Settled[],
  call: Call,
): Settled {
  const sound = withSoundFigures(settled, call);
  const isChecked = checked.some(({ ok, data }) => ok === sound.ok && data === sound.data);
  if (isChecked) return sound;
  if (!sound.ok) {
    const { data, ...failure } = sound;
    return data == null ? failure : { ...failure, data: checkedPart(tool, data, call) };
  }
  const result = checkedJson(tool.output, tool.dataSchema, sound.data);
  return result.ok ? { ...sound, data: result.data } : refusedAnswer(tool, result, call);
}

/** A figure that only decorates the answer must not be able to prevent it: it is left out. */
export function withSoundFigures<T extends Settled>(settled: T, call: Call): T {
  const { rateLimit, idempotency } = settled;
  if (rateLimit === undefined && idempotency === undefined) return settled;
  return {
    ...settled,
    rateLimit: soundOr(rateLimit, checkRateLimit, call),
    idempotency: soundOr(idempotency, checkIdempotency, call),
  };
}

function soundOr<T>(given: T | undefined, check: (given: T) => T, call: Call): T | undefined {
  if (given === undefined) return undefined;
  try {
    return check(given);
  } catch (cause) {
    call.report(cause);
    return undefined;
  }
}
