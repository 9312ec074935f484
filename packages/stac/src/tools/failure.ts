import {
  faultToError as defaultReading,
  isRetryable,
  isToolError,
  raise,
  toolError,
  type ToolError,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Landing } from '../api/landing.js';
import { faultToError } from '../faults.js';
import { memberOf } from '../json.js';
import { oneLine } from '../text.js';
import { asFault } from './tool.js';

/** A failure inside an answer that is a success as a whole. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** What a thrown value says to the caller; undefined for what nobody foresaw. */
export function failureOf(thrown: unknown): Failure | undefined {
  const error = toolErrorOf(asFault(thrown));
  if (!error) return undefined;
  const { code, message } = error.input;
  return { code, message, retryable: isRetryable(code) };
}

export function conformanceWarning({ conformanceFault }: Landing): readonly string[] {
  if (!conformanceFault) return [];
  const code = failureOf(conformanceFault)?.code ?? 'internal_error';
  return [
    `The catalogue's conformance page could not be read (${code}): capabilities are unknown.`,
  ];
}

const MAX_REASON = 160;

/** Ends a call of which every part failed: with the first failure's code, and every part's name and reason. */
export function throwAll(
  failures: readonly { readonly name: string; readonly cause: unknown }[],
): void {
  const [first] = failures;
  if (!first) return;
  const error = toolErrorOf(asFault(first.cause));
  if (!error || failures.length === 1) throw first.cause;
  const reasons = failures.map(({ name, cause }) => {
    const failure = failureOf(cause);
    return failure
      ? `${name}: ${failure.code} (${oneLine(failure.message, MAX_REASON)})`
      : `${name}: internal_error`;
  });
  const message = `All ${failures.length} catalogues failed. ${reasons.join('; ')}`;
  raise(toolError(error.input.code, message, error.input));
}

function toolErrorOf(cause: unknown): ToolError | undefined {
  if (cause instanceof FaultError) return faultToError(cause.fault) ?? defaultReading(cause.fault);
  const raised = memberOf(cause, 'toolError');
  return isToolError(raised) ? raised : undefined;
}
