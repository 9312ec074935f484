import type {
  ApprovalResponse,
  ApprovalsResponse,
  ApprovalSummary,
  OperationResponse,
  OperationsResponse,
} from '@toolkeel/console';
import type { OperationView } from '@toolkeel/journal';
import { operationFilter } from '../../governance/operator.js';
import type { RouteDeps, Routes } from '../api.js';
import { operationNotFound } from '../errors.js';
import { evidenceOf } from '../evidence.js';
import { exportOperations } from '../export.js';
import { actionsOf, approvalSummary, nextStep, summaryOf } from '../operation-view.js';
import { fileResponse, formatOf } from '../request.js';

const DAY_MS = 86_400_000;
const MANY = 200;

/** Operations and approvals. */
export function operationRoutes(deps: RouteDeps): Routes {
  const { live, journal, host, scrub, textPreview } = deps;
  return {
    get: {
      '/operations': async ({ req }): Promise<OperationsResponse> => {
        const { id, ...query } = req.query();
        const { operations } = await journal();
        const filter = {
          ...operationFilter(query, Date.now()),
          ...(id !== undefined && { idPrefix: id }),
        };
        const { limit = 100 } = filter;
        const found = await operations.list({ ...filter, limit: limit + 1 });
        const page = found.slice(0, limit);
        const last = page.at(-1)?.id;
        return {
          operations: page.map((one) => ({ ...one, ...summaryOf(one) })),
          ...(found.length > limit && last !== undefined && { next: last }),
        };
      },
      '/operations/export': async ({ req }) => {
        const { limit: _limit, before: _before, ...query } = req.query();
        const format = formatOf(query);
        const filter = operationFilter(query, Date.now());
        const lines = exportOperations(await journal(), filter, format);
        return fileResponse(lines, 'operations', format, scrub);
      },
      '/operations/:id': async ({ req }): Promise<OperationResponse> => {
        const { operations, store } = await journal();
        const operation = await operations.show(req.param('id') ?? '');
        if (!operation) throw operationNotFound();
        await live.refresh();
        const evidence = await evidenceOf(store, live, operation);
        return { operation, evidence, actions: actionsOf(operation) };
      },
      '/approvals': async ({ req }): Promise<ApprovalsResponse> => {
        const { states: _ignored, ...filter } = operationFilter(req.query(), Date.now());
        const { approvals, operations, store } = await journal();
        const settledSince = (await store.now()) - DAY_MS;
        const expired = { ...filter, states: ['expired'], settledSince, limit: MANY } as const;
        return {
          approvals: soonestFirst(await approvals.list(filter)),
          expired: (await operations.list(expired)).flatMap((one) => approvalSummary(one) ?? []),
        };
      },
      '/approvals/:id': async ({ req }): Promise<ApprovalResponse> => {
        const { approvals } = await journal();
        const approval = await approvals.show(req.param('id') ?? '');
        if (!approval) throw operationNotFound();
        const { arguments: args, tool } = approval;
        const spec = host.specs().find(({ name }) => name === tool);
        const text = args && (await textPreview(tool, args));
        const next = nextStep(approval);
        const masked = Object.entries(args ?? {}).filter(([, value]) => value === '[sensitive]');
        return {
          approval,
          ...(args ? { arguments: args } : { unreadable: UNREADABLE }),
          masked: masked.map(([name]) => name),
          ...(spec && { input_schema: spec.inputSchema }),
          ...(text && { text }),
          actions: actionsOf(approval),
          ...(next !== undefined && { next_step: next }),
        };
      },
    },
  };
}

const UNREADABLE =
  'The arguments cannot be decrypted with the key of this data directory. Decide where the key of the server is, or reject it.';

export function soonestFirst(approvals: readonly OperationView[]): readonly ApprovalSummary[] {
  return approvals
    .flatMap((one) => approvalSummary(one) ?? [])
    .toSorted((one, other) => (one.expires_at < other.expires_at ? -1 : 1));
}
