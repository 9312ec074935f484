import type {
  ExplainResponse,
  PolicyResponse,
  ReplayResponse,
  ToolsResponse,
  TryResponse,
} from '@toolkeel/console';
import { runTool } from '@toolkeel/contract';
import * as z from 'zod';
import { readMoment } from '../../governance/operator.js';
import { policyStatusTool } from '../../governance/policy-status.js';
import type { RouteDeps, Routes } from '../api.js';
import { ApiError, invalid, notFound } from '../errors.js';
import { describePolicy, replayPolicy } from '../policy-pages.js';
import { readBody } from '../request.js';
import { describeTools, type CountTokens } from '../tools.js';

const args = z.record(z.string(), z.unknown());
const tryBody = z.strictObject({ arguments: args.default({}) });
const explainBody = z.strictObject({
  tool: z.string().min(1).max(200),
  arguments: args.default({}),
});
const replayBody = z.strictObject({ config: args, since: z.string().max(40).optional() });

/** Tools and policy. */
export function toolRoutes(deps: RouteDeps): Routes {
  const { host, live, journal, policy, countTokens } = deps;
  let counter: Promise<CountTokens> | undefined;
  return {
    get: {
      '/tools': async (): Promise<ToolsResponse> => {
        await live.refresh();
        const count = await (counter ??= countTokens?.());
        const canTry = host.callRead !== undefined;
        return describeTools(host.specs(), host.profile, live.processes, { count, canTry });
      },
      '/policy': (): Promise<PolicyResponse> =>
        describePolicy(policy, new Set(host.specs().map(({ name }) => name))),
    },
    post: {
      '/tools/:name/try': async ({ req }): Promise<TryResponse> => {
        const name = req.param('name') ?? '';
        const spec = host.specs().find((tool) => tool.name === name);
        if (!spec) throw notFound('tool in this process', 'List tools: GET /api/tools.');
        if (spec.effect !== 'read') {
          const message = `${name} changes something, so it cannot be tried here.`;
          throw new ApiError(403, 'refused', message, 'Use POST /api/policy/explain instead.');
        }
        const { arguments: given } = await readBody(req.raw, tryBody);
        if (!host.callRead) {
          const message = 'A guarded server is called by its clients only.';
          throw new ApiError(409, 'not_here', message, message);
        }
        const envelope = await host.callRead(name, given, req.raw.signal);
        return { envelope: { ...envelope } };
      },
      '/policy/explain': async ({ req }): Promise<ExplainResponse> => {
        const body = await readBody(req.raw, explainBody);
        const tool = policyStatusTool(policy.policy, host.source);
        const { envelope } = await runTool(tool, body);
        if (envelope.success) return envelope.data as ExplainResponse;
        const { message, details } = envelope.error;
        const { field, reason } = (details ?? {}) as { field?: string; reason?: string };
        throw invalid(field === undefined ? message : `${message} ${field}: ${reason}`);
      },
      '/policy/replay': async ({ req }): Promise<ReplayResponse> => {
        const { config, since = '7d' } = await readBody(req.raw, replayBody);
        const from = readMoment('since', since, Date.now());
        return replayPolicy(policy, await journal(), host.source, config, from);
      },
    },
  };
}
