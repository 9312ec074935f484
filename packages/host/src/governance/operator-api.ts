import { readRequestBody } from '@modelcontextprotocol/server';
import type { Decided } from '@toolkeel/journal';
import type { Context, Hono } from 'hono';
import * as z from 'zod';
import type { HostLog } from '../log/log.js';
import {
  explainConflict,
  FilterError,
  operationFilter,
  readLimit,
  readMoment,
  type OperatorJournal,
} from './operator.js';

/** Routes for operators under `/api`, with a token that clients of `/mcp` do not have. */
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

/** The HTTP API of the console: operations, approvals, the head of the audit chain, calls. JSON only. */
export function createOperatorApi({ operatorJournal, token, scrub, log }: ApiOptions): OperatorApi {
  const respond = (context: Context, status: 200 | ApiError['status'], body: unknown) =>
    context.body(scrub(JSON.stringify(body)), status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  const handle = (route: Route) => async (context: Context) => {
    try {
      return respond(context, 200, await route(context));
    } catch (cause) {
      const known = apiErrorOf(cause);
      if (!known) log('error', 'unexpected', { path: context.req.path, cause });
      const { status, code, message, whatToDo, operation } = known ?? internalError();
      const error = { code, message, what_to_do: whatToDo };
      return respond(context, status, operation ? { error, operation } : { error });
    }
  };
  return {
    token: () => token.reveal(),
    mount: (app) => {
      const { get, post } = routesOf(operatorJournal);
      for (const [path, route] of Object.entries(get)) app.get(`/api${path}`, handle(route));
      for (const [path, route] of Object.entries(post)) app.post(`/api${path}`, handle(route));
    },
  };
}

/** Returns the body of the response, or throws an ApiError. */
type Route = (context: Context) => Promise<unknown>;

interface Routes {
  readonly get: Readonly<Record<string, Route>>;
  readonly post: Readonly<Record<string, Route>>;
}

function routesOf(operatorJournal: () => Promise<OperatorJournal>): Routes {
  const idOf = (context: Context): string => context.req.param('id') ?? '';
  const existing = async (context: Context): Promise<OperatorJournal> => {
    const journal = await operatorJournal();
    orNotFound(await journal.operations.show(idOf(context)));
    return journal;
  };
  const decide =
    (decision: 'approve' | 'reject'): Route =>
    async (context) => {
      const { reason, ...body } = await readBody(context.req.raw, decisionBody);
      const { approvals } = await existing(context);
      const given = { ...body, ...(reason !== undefined && { reason }) };
      return { operation: orConflict(await approvals[decision](idOf(context), given)) };
    };

  return {
    get: {
      '/operations': async ({ req }) => {
        const { operations } = await operatorJournal();
        return { operations: await operations.list(operationFilter(req.query(), Date.now())) };
      },
      '/operations/:id': async (context) => {
        const { operations } = await operatorJournal();
        return { operation: orNotFound(await operations.show(idOf(context))) };
      },
      '/approvals': async ({ req }) => {
        const { states: _ignored, ...filter } = operationFilter(req.query(), Date.now());
        const { approvals } = await operatorJournal();
        return { approvals: await approvals.list(filter) };
      },
      '/approvals/:id': async (context) => {
        const { approvals } = await operatorJournal();
        return { approval: orNotFound(await approvals.show(idOf(context))) };
      },
      '/audit/head': async () => {
        const { store } = await operatorJournal();
        return { head: (await store.auditHead()) ?? null };
      },
      '/calls': async ({ req }) => {
        const { since, limit } = req.query();
        const { store } = await operatorJournal();
        const calls = await store.calls({
          ...(since !== undefined && { since: readMoment('since', since, Date.now()) }),
          ...(limit !== undefined && { limit: readLimit(limit) }),
        });
        return { calls };
      },
    },
    post: {
      '/operations/:id/resolve': async (context) => {
        const { reason, ...body } = await readBody(context.req.raw, resolutionBody);
        const { operations } = await existing(context);
        const resolution = { ...body, ...(reason !== undefined && { reason }) };
        return { operation: await operations.resolve(idOf(context), resolution) };
      },
      '/approvals/:id/approve': decide('approve'),
      '/approvals/:id/reject': decide('reject'),
      '/approvals/:id/edit': async (context) => {
        const edit = await readBody(context.req.raw, editBody);
        const { approvals } = await existing(context);
        return { operation: orConflict(await approvals.edit(idOf(context), edit)) };
      },
    },
  };
}

const BODY_LIMIT = 256 * 1024;

const by = z
  .string()
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u,
    'must be a name of at most 100 letters and digits',
  )
  .default('console');
const reason = z.string().max(500).optional();
const hash = z.string().min(1).max(200);

const decisionBody = z.strictObject({ hash, by, reason });
const editBody = z.strictObject({
  hash,
  by,
  changes: z.record(z.string(), z.unknown()).default({}),
  remove: z.array(z.string()).default([]),
});
const resolutionBody = z.strictObject({
  outcome: z.enum(['executed', 'not_executed']),
  by,
  reason,
  data: z.unknown().optional(),
});

/** Reads and validates a JSON body. The content type is required, so that a web form cannot send one. */
async function readBody<T extends z.ZodType>(request: Request, schema: T): Promise<z.output<T>> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new ApiError(
      415,
      'not_json',
      'The request must be JSON.',
      'Send content-type: application/json.',
    );
  }
  const body = await readRequestBody(request, BODY_LIMIT);
  if (body.tooLarge) {
    const message = `The request exceeds ${BODY_LIMIT} bytes.`;
    throw new ApiError(413, 'too_large', message, 'Send a smaller request.');
  }
  const parsed = schema.safeParse(parseJson(body.text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  const message = `${field || 'The body'}: ${issue?.message ?? 'is not valid'}`;
  throw new ApiError(400, 'invalid', message, FIX_REQUEST);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ApiError(400, 'not_json', 'The body is not valid JSON.', FIX_REQUEST);
  }
}

const FIX_REQUEST = 'Correct the request.';

/** Why a request failed, and what the operator can do. */
class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: 400 | 404 | 409 | 413 | 415 | 500 | 503;
  readonly code: string;
  readonly whatToDo: string;
  /** The current state of the operation, where the decision had no effect. */
  readonly operation: Decided['operation'] | undefined;

  constructor(
    status: ApiError['status'],
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

function internalError(): ApiError {
  return new ApiError(500, 'unexpected', 'Internal error.', 'See the server log.');
}

function orNotFound<T>(value: T | undefined): T {
  if (value !== undefined) return value;
  throw new ApiError(
    404,
    'not_found',
    'There is no such operation, or it has been deleted after its retention period.',
    'List operations: GET /api/operations.',
  );
}

function orConflict({ kind, operation }: Decided): Decided['operation'] {
  if (kind === 'decided') return operation;
  const { message, whatToDo } = explainConflict({ kind, operation });
  throw new ApiError(409, kind, message, whatToDo, operation);
}

/** Recognizes a JournalError by its name, because the journal is loaded lazily. */
function apiErrorOf(cause: unknown): ApiError | undefined {
  if (cause instanceof ApiError) return cause;
  if (cause instanceof FilterError) {
    return new ApiError(400, 'invalid', cause.message, FIX_REQUEST);
  }
  if (!(cause instanceof Error) || cause.name !== 'JournalError') return undefined;
  const isRefusal = 'reason' in cause && cause.reason === 'invalid';
  return isRefusal
    ? new ApiError(409, 'refused', cause.message, 'Show the operation again.')
    : new ApiError(503, 'journal', cause.message, 'Fix the journal, then try again.');
}
