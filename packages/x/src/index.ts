export { LoginError } from './auth/login-error.js';
export {
  DEFAULT_REDIRECT_PORT,
  defaultScopes,
  loginX,
  type LoginOptions,
  type LoginResult,
} from './auth/login-x.js';
export { configFromEnvironment, configSchema, type XConfig } from './config.js';
export { createXPack, x, type RuntimeContext } from './pack.js';
export type {
  ById,
  Found,
  Page,
  PageQuery,
  PostRange,
  ReadContext,
  ReadMethod,
  ReadName,
  SearchQuery,
  SocialReadProvider,
  UserPostsQuery,
} from './provider/provider.js';
export type { List, PartialError, Post, User } from './provider/model.js';
export { retrying, type RetryingOptions } from './provider/retrying.js';
export { ConfigError } from './secrets.js';
export { weightedLength } from './text/weighted-length.js';
