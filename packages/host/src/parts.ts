/**
 * The parts of a host, for a server that is not made of tools: the guard passes frames of another server
 * on and runs only its calls through the engine, the journal and the policy.
 *
 * @module
 */
export type { Callable } from './call/callable.js';
export type { OnDelivered } from './call/deliveries.js';
export { CallEngine, type CompletedRun } from './call/engine.js';
export { InFlightTable } from './call/in-flight-table.js';
export { processDescription, type Reachability } from './call/process-description.js';
export { UpstreamMonitor } from './call/upstream-monitor.js';
export { createConsole, type Console, type ConsoleExtras } from './console/console.js';
export { consoleListener } from './console/listener.js';
export { defaultName } from './console/operator-name.js';
export type { ConfigIssue } from './errors.js';
export { journalHooks, lazyJournal, type LazyJournal } from './governance/journal.js';
export { notifierOf } from './governance/notifier.js';
export { keyTemplates, policyOf, readRules } from './governance/policy.js';
export { createAccess, requireTokens, type Access } from './http/access.js';
export { bind, DEFAULT_BODY_LIMIT, DEFAULT_HTTP_HOST, unbind } from './http/listen.js';
export {
  acceptsResponses,
  accessHeaders,
  hasJsonBody,
  headerOf,
  readBody,
} from './http/node-request.js';
export { responseFinished } from './http/response.js';
export { WriteQueue } from './http/write-queue.js';
export { parseInbound } from './mcp/inbound.js';
export { callToolResult } from './mcp/tools.js';
export { prometheusMetrics } from './metrics.js';
export { isTraced } from './tracing.js';
export { findId, LineBuffer, type LineHandler } from './stdio/line-buffer.js';
