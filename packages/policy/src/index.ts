export type { PolicyCall, PolicyTool } from './catalogue.js';
export { parsePolicy, type Parsed } from './config/parse.js';
export { policyJsonSchema } from './config/json-schema.js';
export type { IssuePath, PolicyIssue } from './config/issue.js';
export type {
  Bounds,
  Condition,
  CostCondition,
  Count,
  LimitRule,
  Operators,
  PolicyConfig,
  Rule,
  TimeCondition,
} from './config/types.js';
export type { Mode, PolicyProfile, RuleAction, TemplateName } from './config/words.js';
export { compilePolicy, type Compiled, type CompileOptions } from './compile/compile-policy.js';
export type { Policy, RuleSource } from './compile/policy.js';
export { templates, type Template } from './compile/templates.js';
export type { Truth } from './condition/truth.js';
export type { Decision, DenialCode, Limit } from './judge/decision.js';
export {
  describe,
  describeTool,
  type DescribedLimit,
  type DescribedRule,
  type Description,
  type ToolDescription,
} from './judge/describe.js';
export { evaluate } from './judge/evaluate.js';
export {
  explain,
  type ConditionReport,
  type Explanation,
  type RuleReport,
} from './judge/explain.js';
