import { policyDenialCodes, toolError, type ToolSpec } from '@toolkeel/contract';
import type { Denial } from '@toolkeel/journal';
import type { Policy } from '@toolkeel/policy';
import type { HostMiddleware } from '../call/around.js';
import { policyCall } from './policy-call.js';

/** Rules about tools that only read: they can be denied, and nothing else. The journal sees no reads. */
export interface ReadRules {
  /** Such a tool may answer with a denial, and its description says so. */
  readonly prepare: <T extends ToolSpec>(tool: T) => T;
  /** What stands around its handler; undefined where no rule is about it. */
  readonly layerFor: (tool: ToolSpec) => HostMiddleware | undefined;
}

export type NoteDenial = (denial: Denial) => void;

export function readRules(policy: Policy, noteDenial: NoteDenial): ReadRules {
  const concerns = ({ name, mutation }: ToolSpec): boolean => {
    const found = policy.tools.get(name);
    return (
      !mutation && found !== undefined && (found.blockedBy !== undefined || found.rules.length > 0)
    );
  };
  const layer: HostMiddleware = async (call, next) => {
    const { evaluate } = await import('@toolkeel/policy');
    const decision = evaluate(policy, policyCall(call, { now: Date.now() }));
    if (decision.kind !== 'deny') return next();
    const { code, rule, explanation } = decision;
    const { correlationId, account, tool } = call;
    noteDenial({ tool: tool.name, account, correlationId, code, rule });
    const details = { rule, explanation };
    return { ok: false, error: toolError(code, explanation, { details }).input };
  };
  return {
    prepare: (tool) => {
      if (!concerns(tool)) return tool;
      const possibleCodes = [...new Set([...tool.possibleCodes, ...policyDenialCodes])].toSorted();
      return Object.freeze({ ...tool, possibleCodes });
    },
    layerFor: (tool) => (concerns(tool) ? layer : undefined),
  };
}
