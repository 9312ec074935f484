export { configFromEnvironment, configSchema, type StacConfig } from './config.js';
export { createStacPack, stac, type Surroundings } from './pack.js';
export { ConfigError } from './secrets.js';
