/**
 * The pack and its settings without the adapters, for commands that must start fast.
 *
 * @module
 */
export { configFromEnvironment, configSchema, type LlmConfig } from './config.js';
export { llm } from './pack.js';
