/**
 * The pack, its settings and its login, without the rest of the library, for commands that must start
 * fast.
 *
 * @module
 */
export { lookAtLogin } from './auth/login-file.js';
export { DEFAULT_REDIRECT_PORT, loginX } from './auth/login-x.js';
export { configFromEnvironment, configSchema, readToken } from './config.js';
export { x } from './pack.js';
export { ConfigError } from '@toolkeel/pack-kit/base';
