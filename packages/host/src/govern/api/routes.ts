import type { Context } from 'hono';
import type { OperatorJournal } from '../desk.js';
import { operationFilter, readLimit, readMoment } from '../filter.js';
import { decisionBody, editBody, readBody, resolutionBody } from './bodies.js';
import { decidedOrThrow, noSuchOperation } from './problem.js';

type Answer = (context: Context) => Promise<unknown>;

/** Every route gives what its body will be, or throws. */
export interface Routes {
  readonly get: Readonly<Record<string, Answer>>;
  readonly post: Readonly<Record<string, Answer>>;
}

/** What a person may see and decide, one path each. */
export function apiRoutes(operatorJournal: () => Promise<OperatorJournal>): Routes {
  const id = (context: Context): string => context.req.param('id') ?? '';
  const found = <T>(one: T | undefined): T => {
    if (one === undefined) throw noSuchOperation();
    return one;
  };
  const mustExist = async (context: Context): Promise<OperatorJournal> => {
    const at = await operatorJournal();
    found(await at.operations.show(id(context)));
    return at;
  };
  const decide =
    (decision: 'approve' | 'reject'): Answer =>
    async (context) => {
      const { reason, ...by } = await readBody(context.req.raw, decisionBody);
      const { approvals } = await mustExist(context);
      const given = { ...by, ...(reason !== undefined && { reason }) };
      return { operation: decidedOrThrow(await approvals[decision](id(context), given)) };
    };

  return {
    get: {
      '/operations': async ({ req }) => ({
        operations: await (
          await operatorJournal()
        ).operations.list(operationFilter(req.query(), Date.now())),
      }),
      '/operations/:id': async (context) => ({
        operation: found(await (await operatorJournal()).operations.show(id(context))),
      }),
      '/approvals': async ({ req }) => {
        const { states: _all, ...filter } = operationFilter(req.query(), Date.now());
        return { approvals: await (await operatorJournal()).approvals.list(filter) };
      },
      '/approvals/:id': async (context) => ({
        approval: found(await (await operatorJournal()).approvals.show(id(context))),
      }),
      '/audit/head': async () => ({
        head: (await (await operatorJournal()).store.auditHead()) ?? null,
      }),
      '/calls': async ({ req }) => {
        const { since, limit } = req.query();
        const calls = await (
          await operatorJournal()
        ).store.calls({
          ...(since !== undefined && { since: readMoment('since', since, Date.now()) }),
          ...(limit !== undefined && { limit: readLimit(limit) }),
        });
        return { calls };
      },
    },
    post: {
      '/operations/:id/resolve': async (context) => {
        const { reason, ...given } = await readBody(context.req.raw, resolutionBody);
        const { operations } = await mustExist(context);
        const resolution = { ...given, ...(reason !== undefined && { reason }) };
        return { operation: await operations.resolve(id(context), resolution) };
      },
      '/approvals/:id/approve': decide('approve'),
      '/approvals/:id/reject': decide('reject'),
      '/approvals/:id/edit': async (context) => {
        const edit = await readBody(context.req.raw, editBody);
        const { approvals } = await mustExist(context);
        return { operation: decidedOrThrow(await approvals.edit(id(context), edit)) };
      },
    },
  };
}
