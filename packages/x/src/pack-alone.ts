/**
 * The pack, its settings and its login, without the parts that other programs may want besides: a
 * command that lists the tools has no time to load those.
 *
 * @module
 */
export { lookAtLogin } from './auth/look-at-login.js';
export { DEFAULT_REDIRECT_PORT, loginX } from './auth/login-x.js';
export { configFromEnvironment, configSchema } from './config.js';
export { x } from './pack.js';
export { ConfigError, readSecret } from './secrets.js';
