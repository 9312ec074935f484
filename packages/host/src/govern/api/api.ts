import type { Context, Hono } from 'hono';
import type { HostLog } from '../../log/log.js';
import type { OperatorJournal } from '../desk.js';
import { FilterError } from '../filter.js';
import { ApiProblem } from './problem.js';
import { apiRoutes } from './routes.js';

/** Routes for people, under `/api`, with a credential that clients of `/mcp` do not have. */
export interface OperatorApi {
  readonly token: () => string;
  readonly mount: (app: Hono) => void;
}

export interface ApiOptions {
  readonly operatorJournal: () => Promise<OperatorJournal>;
  readonly token: { readonly reveal: () => string };
  readonly scrub: (text: string) => string;
  readonly log: HostLog;
}

/** What the console stands on: operations, approvals, the head of the audit, calls. JSON only. */
export function governanceApi({ operatorJournal, token, scrub, log }: ApiOptions): OperatorApi {
  const answer = (context: Context, status: 200 | ApiProblem['status'] | 500, body: unknown) =>
    context.body(scrub(JSON.stringify(body)), status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  const answering = (work: (context: Context) => Promise<unknown>) => async (context: Context) => {
    try {
      return answer(context, 200, await work(context));
    } catch (cause) {
      const problem = problemOf(cause);
      if (!problem) log('error', 'unexpected', { path: context.req.path, cause });
      const { status, code, message, whatToDo, operation } = problem ?? unforeseen;
      const error = { code, message, what_to_do: whatToDo };
      return answer(context, status, operation ? { error, operation } : { error });
    }
  };
  return {
    token: () => token.reveal(),
    mount: (app) => {
      const { get, post } = apiRoutes(operatorJournal);
      for (const [path, work] of Object.entries(get)) app.get(`/api${path}`, answering(work));
      for (const [path, work] of Object.entries(post)) app.post(`/api${path}`, answering(work));
    },
  };
}

const unforeseen = {
  status: 500,
  code: 'unexpected',
  message: 'Something failed in a way that nobody foresaw.',
  whatToDo: 'The cause is in the log of the server.',
  operation: undefined,
} as const;

/** By name: the journal is loaded only when somebody asks for it. */
function problemOf(cause: unknown): ApiProblem | undefined {
  if (cause instanceof ApiProblem) return cause;
  if (cause instanceof FilterError) {
    return new ApiProblem(400, 'invalid', cause.message, 'Repair the request.');
  }
  if (!(cause instanceof Error) || cause.name !== 'JournalError') return undefined;
  const isRequest = 'reason' in cause && cause.reason === 'invalid';
  return isRequest
    ? new ApiProblem(409, 'refused', cause.message, 'Look at the operation again.')
    : new ApiProblem(503, 'journal', cause.message, 'Repair the journal, then try again.');
}
