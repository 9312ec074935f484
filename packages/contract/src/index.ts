export {
  addedCodes,
  codes,
  errorCodes,
  frozenCodes,
  mutationCodes,
  policyDenialCodes,
  sharedCodes,
  upstreamCodes,
  type BuiltInCode,
  type CodeEntry,
  type ErrorCode,
  type FailureClass,
  type FailureOutcome,
  type OutcomeOf,
  type PolicyDecision,
  type RetryableOf,
  type SharedCode,
} from './codes/table.js';
export {
  isErrorCode,
  isRecoverable,
  isRetryable,
  onlyOutcomeOf,
  policyDecisionOf,
  registerCodes,
  type CodeDefinition,
} from './codes/registry.js';
export { detailSchemaOf, type DetailsOf } from './codes/details.js';
export { codesTable, errorCodesMarkdown } from './codes/markdown.js';

export {
  errorEnvelope,
  successEnvelope,
  type Envelope,
  type ErrorEnvelope,
  type SuccessEnvelope,
} from './envelope/envelope.js';
export { InconsistentEnvelopeError } from './envelope/error.js';
export { InconsistentErrorError, type ErrorBody, type ErrorInput } from './envelope/error.js';
export {
  MODES,
  paginationInfo,
  PROFILES,
  rateLimitMeta,
  type IdempotencyMeta,
  type Meta,
  type MetaInput,
  type Mode,
  type PaginationInfo,
  type PlainMeta,
  type Profile,
  type RateLimitMeta,
  type RunProfile,
  type WorkflowMeta,
} from './envelope/meta.js';
export { envelopeSchema, errorSchema, metaSchema, paginationSchema } from './envelope/schema.js';
export { TOOL_FAILURE_KEY, toolFailure, type ToolFailure } from './envelope/tool-failure.js';

export { listTool, outputJsonSchema, type ListedTool } from './tool/listing.js';
export { toolAnnotations, type ToolAnnotations } from './tool/tool.js';
export { profilesFrom } from './tool/check-definition.js';
export type {
  CheckContext,
  Progress,
  StepReadBack,
  ToolContext,
  ToolOperation,
} from './tool/context.js';
export { CONTROL_ARGUMENTS } from './tool/controls.js';
export {
  acceptControls,
  CONTROLS_EXPLAINED,
  idempotencyKeySchema,
  type Controls,
} from './tool/controls.js';
export { beforeSend } from './tool/send.js';
export { assertSendToken, withSendToken, type SendToken } from './tool/send.js';
export { defineTool, implementTool, specifyTool } from './tool/define.js';
export { ToolDefinitionError } from './tool/check-definition.js';
export { raise, raisedToolError } from './tool/result.js';
export { renderKey, templateArguments } from './content-hash.js';
export {
  answer,
  faulted,
  isToolError,
  page,
  toolError,
  type Answer,
  type AnswerOptions,
  type Faulted,
  type Paging,
  type ToolError,
  type ToolErrorOptions,
} from './tool/result.js';
export type {
  Absence,
  AccountId,
  Arguments,
  CheckResult,
  CostEstimate,
  HandlerResult,
  HardRuleContext,
  HardRuleVerdict,
  Inverse,
  JsonSchema,
  OpenAct,
  OtherOperation,
  Others,
  PagingSpec,
  Reconcile,
  Reconciliation,
  Requirement,
  SendMode,
  ToolBehaviour,
  ToolTraits,
  UnknownOperation,
} from './tool/spec.js';
export {
  zodType,
  type AnyObjectSchema,
  type InputOf,
  type NoSchema,
  type ObjectSchema,
  type OutputOf,
  type Schema,
  type SchemaIssue,
} from './tool/schema.js';
export { accountOf, isJournaled, ofPack, windowOf, type Tool, type ToolSpec } from './tool/tool.js';

export type { RunClock } from './run/options.js';
export { faultOf, faultToError, outcomeOfFault } from './run/fault-to-error.js';
export type {
  AcceptedCall,
  Admit,
  Middleware,
  Next,
  RunOptions,
  Settled,
  SettledFailure,
  SettledSuccess,
  ToolRun,
} from './run/options.js';
export { UNKNOWN_WITHOUT_JOURNAL } from './run/failure.js';
export { parseInput } from './run/arguments.js';
export { runTool, startTool } from './run/run-tool.js';
export { ContractViolation } from './run/failure.js';

export {
  createPageTokens,
  type DecodedToken,
  type PageTokenOptions,
  type PageTokens,
  type TokenBinding,
  type TokenRefusal,
} from './page-tokens.js';

export { CanonicalJsonError, canonicalJson } from './canonical-json.js';
export { contentHash, type Act } from './content-hash.js';

export {
  buildManifest,
  manifestSchema,
  manifestText,
  type Manifest,
  type ManifestEntry,
} from './manifest.js';
export { compareManifests, type ManifestDifference } from './manifest.js';
export { checkObservedCodes, type ObservedCheck, type ObservedCode } from './manifest.js';

export type { PackRecord, PackRecords, RecordFilter, RecordInput, RecordQuery } from './records.js';
export type {
  PackCallOptions,
  PackOperation,
  PackOperationFilter,
  PackOperations,
  PackWorkflow,
  Schedule,
  DelegatingCall,
} from './workflow.js';
export type {
  Pack,
  PackDeps,
  PackEvent,
  PackHealth,
  PackInstance,
  PackLog,
  PackPrompt,
  PackResource,
  PackSandbox,
  UpstreamHealth,
  UpstreamState,
} from './pack.js';
export type {
  TextCompletion,
  TextContext,
  TextEvent,
  TextMessage,
  TextModel,
  TextModelError,
  TextModelHealth,
  TextPart,
  TextRequest,
  TextStreamContext,
  TextTool,
  TextToolCall,
  TextUsage,
} from './pack.js';
