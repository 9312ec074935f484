export {
  DEFAULT_REDIRECT_PORT,
  defaultScopes,
  LoginError,
  loginX,
  type LoginOptions,
  type LoginResult,
} from './auth/login-x.js';
export { ConfigError } from '@toolkeel/pack-kit/base';
export { configFromEnvironment, configSchema, type XConfig } from './config.js';
export { createXPack, x, type RuntimeContext } from './pack.js';
export type { List, PartialError, Post, User } from './model.js';
export {
  retrying,
  type ById,
  type ItemResult,
  type PageQuery,
  type PageResult,
  type PostRange,
  type ReadContext,
  type ReadMethod,
  type ReadName,
  type RetryingOptions,
  type SearchQuery,
  type SocialReadProvider,
  type UserPostsQuery,
} from './api/provider.js';
export { weightedLength } from './text/weighted-length.js';
