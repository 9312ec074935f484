export { LoginError } from './auth/login-x.js';
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
  ItemResult,
  PageResult,
  PageQuery,
  PostRange,
  ReadContext,
  ReadMethod,
  ReadName,
  SearchQuery,
  SocialReadProvider,
  UserPostsQuery,
} from './api/provider.js';
export type { List, PartialError, Post, User } from './api/model.js';
export { retrying, type RetryingOptions } from './api/provider.js';
export { ConfigError } from './config.js';
export { weightedLength } from './text/weighted-length.js';
