import type { Decided } from '@toolkeel/journal';
import { undecided } from '../undecided.js';

type Status = 400 | 404 | 409 | 413 | 415 | 503;

/** Why a request of a person was not done, and what to do. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: Status;
  readonly code: string;
  readonly whatToDo: string;
  /** What is the case instead. */
  readonly operation: Decided['operation'] | undefined;

  constructor(
    status: Status,
    code: string,
    message: string,
    whatToDo: string,
    operation?: Decided['operation'],
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.whatToDo = whatToDo;
    this.operation = operation;
  }
}

export function noSuchOperation(): ApiProblem {
  return new ApiProblem(
    404,
    'not_found',
    'There is no such operation, or it is too long ago.',
    'List them: GET /api/operations.',
  );
}

/** What a decision changed, or why it changed nothing. */
export function decidedOrThrow(result: Decided): Decided['operation'] {
  const { kind, operation } = result;
  if (kind === 'decided') return operation;
  const { message, whatToDo } = undecided({ kind, operation });
  throw new ApiProblem(409, kind, message, whatToDo, operation);
}
