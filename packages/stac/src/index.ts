export { ConfigError } from '@toolkeel/pack-kit/base';
export { configFromEnvironment, configSchema, type StacConfig } from './config.js';
export { createStacPack, stac, type RuntimeContext } from './pack.js';
