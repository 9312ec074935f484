import type { Decided } from '@toolkeel/journal';
import * as z from 'zod';
import type { Operator } from '../access.js';
import type { Route, RouteDeps, Routes } from '../api.js';
import { ApiError, conflict, operationNotFound } from '../errors.js';
import { operatorName, readBody, reasonText } from '../request.js';

const by = operatorName.default('console');
const hash = z.string().min(1).max(200);

const decisionBody = z.strictObject({ hash, by, reason: reasonText });
const editBody = z.strictObject({
  hash,
  by,
  changes: z.record(z.string(), z.unknown()).default({}),
  remove: z.array(z.string()).default([]),
});
const resolutionBody = z.strictObject({
  outcome: z.enum(['executed', 'not_executed']),
  by,
  reason: reasonText,
  data: z.unknown().optional(),
});

/** Decisions in one request, bound to a hash instead of a preview: for scripts, with the token only. */
export function scriptRoutes({ journal }: RouteDeps): Routes {
  const existing = async (id: string) => {
    const opened = await journal();
    if (!(await opened.operations.show(id))) throw operationNotFound();
    return opened;
  };
  const decide =
    (decision: 'approve' | 'reject'): Route =>
    async ({ req }, operator) => {
      requireToken(operator);
      const id = req.param('id') ?? '';
      const { reason, ...body } = await readBody(req.raw, decisionBody);
      const { approvals } = await existing(id);
      const given = { ...body, ...(reason !== undefined && { reason }) };
      return { operation: decided(await approvals[decision](id, given)) };
    };
  return {
    post: {
      '/operations/:id/resolve': async ({ req }, operator) => {
        requireToken(operator);
        const id = req.param('id') ?? '';
        const { reason, ...body } = await readBody(req.raw, resolutionBody);
        const { operations } = await existing(id);
        const resolution = { ...body, ...(reason !== undefined && { reason }) };
        return { operation: await operations.resolve(id, resolution) };
      },
      '/approvals/:id/approve': decide('approve'),
      '/approvals/:id/reject': decide('reject'),
      '/approvals/:id/edit': async ({ req }, operator) => {
        requireToken(operator);
        const id = req.param('id') ?? '';
        const edit = await readBody(req.raw, editBody);
        const { approvals } = await existing(id);
        return { operation: decided(await approvals.edit(id, edit)) };
      },
    },
  };
}

function requireToken({ by: credential }: Operator): void {
  if (credential === 'token') return;
  const message = 'A page has to use POST /api/actions, with the version of a preview.';
  throw new ApiError(403, 'refused', message, message);
}

function decided(result: Decided): Decided['operation'] {
  if (result.kind === 'decided') return result.operation;
  throw conflict(result);
}
