export { compilePolicy, type Compiled, type CompileOptions } from './compile.js';
export type { MatchResult } from './condition/node.js';
export {
  policyJsonSchema,
  type Bounds,
  type Condition,
  type CostCondition,
  type Count,
  type LimitRule,
  type Mode,
  type Operators,
  type PolicyConfig,
  type PolicyProfile,
  type Rule,
  type RuleAction,
  type TemplateName,
  type TimeCondition,
} from './config.js';
export { evaluate } from './evaluate.js';
export {
  describe,
  describeTool,
  explain,
  type ConditionReport,
  type DescribedLimit,
  type DescribedRule,
  type Description,
  type Explanation,
  type RuleReport,
  type ToolDescription,
} from './explain.js';
export { parsePolicy, type IssuePath, type Parsed, type PolicyIssue } from './parse.js';
export { templates, type Policy, type RuleSource, type Template } from './policy.js';
export type { Decision, DenialCode, Limit, PolicyCall, PolicyTool } from './types.js';
