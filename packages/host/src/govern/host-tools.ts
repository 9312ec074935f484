import type { ToolSpec } from '@toolkeel/contract';
import { getOperationTool } from '@toolkeel/journal/tools';
import { policyStatusTool } from './policy-status.js';

/** The tools that a governed host has beside those of its packs. */
export function hostToolSpecs(): readonly ToolSpec[] {
  const nowhere = () => Promise.reject(new TypeError('this is a description'));
  return [
    getOperationTool({ show: nowhere }),
    policyStatusTool(nowhere, { specs: () => [], load: nowhere }),
  ];
}
