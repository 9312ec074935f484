export { configFromEnvironment, configSchema, type StacConfig } from './config.js';
export { createStacPack, stac, type RuntimeContext } from './pack.js';
export { ConfigError } from './config.js';
