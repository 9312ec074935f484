import type { ActResponse, Action, Preview } from '@toolkeel/console';
import * as z from 'zod';
import type { Operator } from '../access.js';
import { act, previewAction, type ActionDeps } from '../actions.js';
import type { RouteDeps, Routes } from '../api.js';
import { evidenceOf } from '../evidence.js';
import { operatorName, readBody, reasonText } from '../request.js';

const MAX_VERSION = 8192;

const action = z.strictObject({
  action: z.enum([
    'approve',
    'edit',
    'edit_and_approve',
    'reject',
    'withdraw',
    'check_upstream',
    'it_happened',
    'it_did_not_happen',
  ]),
  operation_id: z.string().min(1).max(200),
  changes: z.record(z.string(), z.unknown()).optional(),
  remove: z.array(z.string()).max(100).optional(),
  reason: reasonText,
  data: z.unknown().optional(),
  /** For scripts: who decides. A page cannot name another person. */
  by: operatorName.optional(),
});
const request = action.extend({ version: z.string().min(1).max(MAX_VERSION) });

/** Consequence first: every action has a preview, and refuses to act on another state. */
export function actionRoutes(deps: RouteDeps): Routes {
  const { live, journal, textPreview } = deps;
  const context = async (operator: Operator, by: string | undefined): Promise<ActionDeps> => {
    const opened = await journal();
    await live.refresh();
    return {
      journal: opened,
      processes: live.processes,
      now: live.now,
      by: operator.name ?? by ?? 'console',
      textPreview,
    };
  };
  return {
    post: {
      '/preview': async ({ req }, operator): Promise<Preview> => {
        const { by, ...given } = await readBody(req.raw, action);
        return previewAction(await context(operator, by), withoutUndefined(given));
      },
      '/actions': async ({ req }, operator): Promise<ActResponse> => {
        const { by, version, ...given } = await readBody(req.raw, request);
        const actionDeps = await context(operator, by);
        const done = await act(actionDeps, withoutUndefined(given), version);
        const { store } = actionDeps.journal;
        const { audit } = await evidenceOf(store, live, done.operation);
        const entry = audit.findLast(({ actor }) => actor === actionDeps.by);
        return { ...done, ...(entry && { audit: entry }) };
      },
    },
  };
}

function withoutUndefined(given: Omit<z.output<typeof action>, 'by'>): Action {
  const { action: name, operation_id, changes, remove, reason, data } = given;
  return {
    action: name,
    operation_id,
    ...(changes && { changes }),
    ...(remove && { remove }),
    ...(reason !== undefined && { reason }),
    ...(data !== undefined && { data }),
  };
}
