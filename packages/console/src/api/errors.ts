import type { Difference, Preview } from './actions.js';
import type { Operation } from './operations.js';

/** Body of every response with a status of 400 and above. */
export interface ErrorResponse {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly what_to_do: string;
  };
  /** 409: the operation as it is now. */
  readonly operation?: Operation;
  /** 409 `state_moved`: what differs from the state that the preview showed. */
  readonly difference?: readonly Difference[];
  /** 409 `state_moved`: the preview of the same action now, if it is still possible. */
  readonly preview?: Preview;
}

export type ErrorCode =
  | 'signed_out' // 401: no session, or it has expired
  | 'invalid_code' // 401: the code of the link was used, has expired or never existed
  | 'refused' // 401/403: wrong token, Host or Origin; 409: the journal refuses the action
  | 'invalid' // 400: a field or query parameter
  | 'not_json' // 400/415
  | 'too_large' // 413
  | 'too_many' // 429: too many sign-in attempts or event streams
  | 'not_found' // 404
  | 'state_moved' // 409: nothing was done; see `difference`
  | 'already' // 409: decided by another operator
  | 'expired' // 409: the approval has expired
  | 'changed' // 409: the arguments were edited
  | 'not_waiting' // 409
  | 'not_here' // 409: this process does not have the tool
  | 'journal' // 503: the journal cannot be read
  | 'unexpected'; // 500
