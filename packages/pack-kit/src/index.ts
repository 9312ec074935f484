export * from './base.js';
export * from './pause.js';
export { headerOf, readBody, ResponseTooLargeError, type HttpHeaders } from './http/body.js';
export * from './http/parse-json.js';
export {
  checkPublic,
  isPublicAddress,
  parseTarget,
  TargetNotAllowed,
  type IsAllowed,
  type Resolve,
} from './http/ssrf.js';
export { createConnections, type Connections, type NetworkRules } from './http/connections.js';
export {
  authenticate,
  faultOfResponse,
  parseResponse,
  read,
  type ExchangeOptions,
  type FailedResponse,
  type HttpRequest,
  type HttpResponse,
  type Method,
  type Send,
} from './http/exchange.js';
export * from './http/client.js';
export {
  asFault,
  badResponse,
  classify,
  describeFailure,
  faultToError,
  toolErrorOf,
  UpstreamError,
  type FaultMapping,
} from './faults.js';
export * from './rate-limits.js';
export * from './tool.js';
