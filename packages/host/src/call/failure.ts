import type { ToolRun } from '@toolkeel/contract';

const MAX_BYTES = 4096;
const MAX_MESSAGE = 1000;

/** The error that a caller received, as recorded. */
interface RecordedFailure {
  readonly error: object;
  readonly meta: object;
  /** Details were left out: they may contain arguments of a mutation, or were too large. */
  readonly withoutDetails?: true;
}

/**
 * The error of a call for the console: bounded and redacted. Without the details of a mutation, which may
 * repeat its arguments. Undefined for a success: its data is not recorded.
 */
export function describeFailure(
  envelope: ToolRun['envelope'],
  isMutation: boolean,
  scrub: (text: string) => string = (text) => text,
): string | undefined {
  if (envelope.success) return undefined;
  const { details, ...error } = envelope.error;
  const { meta } = envelope;
  const message = scrub(error.message).slice(0, MAX_MESSAGE);
  const hasDetails = details !== undefined && Object.keys(Object(details) as object).length > 0;
  const short = { error: { ...error, message }, meta };
  if (!hasDetails) return scrub(JSON.stringify(short satisfies RecordedFailure));
  const whole = isMutation
    ? undefined
    : scrub(JSON.stringify({ error: { ...short.error, details }, meta }));
  if (whole !== undefined && whole.length <= MAX_BYTES) return whole;
  return scrub(JSON.stringify({ ...short, withoutDetails: true } satisfies RecordedFailure));
}
