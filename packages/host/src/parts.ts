/**
 * The parts of a host, for a server that is not made of tools: the guard passes frames of another server
 * on and runs only its calls through the engine, the journal and the policy.
 *
 * @module
 */
export type { Callable } from './call/callable.js';
export type { OnDelivered } from './call/deliveries.js';
export { CallEngine, type CompletedRun } from './call/engine.js';
export type { ConfigIssue } from './errors.js';
export { journalHooks, lazyJournal, type LazyJournal } from './governance/journal.js';
export { notifierOf } from './governance/notifier.js';
export { keyTemplates, policyOf, readRules } from './governance/policy.js';
export { createAccess, requireTokens, type Access } from './http/access.js';
export { parseInbound } from './mcp/inbound.js';
export { callToolResult } from './mcp/tools.js';
export { prometheusMetrics } from './metrics.js';
export { findId, LineBuffer, type LineHandler } from './stdio/line-buffer.js';
