import type { Difference, ErrorCode, ErrorResponse, Preview } from '@toolkeel/console';
import type { Decided } from '@toolkeel/journal';
import { explainConflict, FilterError } from '../governance/operator.js';

type Status = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 429 | 500 | 503;

/** Why a request failed, and what the operator can do. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: Status;
  readonly code: ErrorCode;
  readonly whatToDo: string;
  /** The current state, where an action had no effect. */
  readonly more: Partial<Pick<ErrorResponse, 'operation' | 'difference' | 'preview'>>;

  constructor(
    status: Status,
    code: ErrorCode,
    message: string,
    whatToDo: string,
    more: ApiError['more'] = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.whatToDo = whatToDo;
    this.more = more;
  }

  get body(): ErrorResponse {
    const { code, message, whatToDo, more } = this;
    return { error: { code, message, what_to_do: whatToDo }, ...more };
  }
}

const FIX_REQUEST = 'Correct the request.';

export function invalid(message: string): ApiError {
  return new ApiError(400, 'invalid', message, FIX_REQUEST);
}

export function notFound(what: string, whatToDo: string): ApiError {
  return new ApiError(404, 'not_found', `There is no such ${what}.`, whatToDo);
}

export function operationNotFound(): ApiError {
  return new ApiError(
    404,
    'not_found',
    'There is no such operation, or it has been deleted after its retention period.',
    'List operations: GET /api/operations.',
  );
}

export function stateMoved(difference: readonly Difference[], preview?: Preview): ApiError {
  return new ApiError(
    409,
    'state_moved',
    'The state has changed since the preview, so nothing was done.',
    'Look at the difference, then decide again.',
    { difference, ...(preview && { preview, operation: preview.operation }) },
  );
}

export function conflict({ kind, operation }: Decided): ApiError {
  if (kind === 'decided') throw new TypeError('a decision that had an effect is no conflict');
  const { message, whatToDo } = explainConflict({ kind, operation });
  return new ApiError(409, kind, message, whatToDo, { operation });
}

export function internalError(): ApiError {
  return new ApiError(500, 'unexpected', 'Internal error.', 'See the server log.');
}

/** Recognizes a JournalError by its name, because the journal is loaded lazily. Undefined: unexpected. */
export function apiErrorOf(cause: unknown): ApiError | undefined {
  if (cause instanceof ApiError) return cause;
  if (cause instanceof FilterError) return invalid(cause.message);
  if (!(cause instanceof Error) || cause.name !== 'JournalError') return undefined;
  const isRefusal = 'reason' in cause && cause.reason === 'invalid';
  return isRefusal
    ? new ApiError(409, 'refused', cause.message, 'Show the operation again.')
    : new ApiError(503, 'journal', cause.message, 'Fix the journal, then try again.');
}
