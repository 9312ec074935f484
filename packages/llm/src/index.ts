/**
 * Claude and Gemini behind one interface, with timeouts that fire, one retry loop and typed errors.
 *
 * @module
 */
export { claude, type ClaudeOptions } from './claude/claude.js';
export { gemini, type GeminiOptions } from './gemini/gemini.js';
export { fallback, type FallbackOptions, type Model } from './core/model.js';
export type { ModelOptions } from './core/channel.js';
export type { Timeouts } from './core/clocks.js';
export { ProviderError, type Phase, type ProviderErrorCode } from './core/errors.js';
export type { ModelInfo } from './core/provider.js';
export { configFromEnvironment, configSchema, type LlmConfig } from './config.js';
export { modelsFrom, type ConfiguredModels, type ModelDeps } from './from-config.js';
export { createLlmPack, llm, type RuntimeContext } from './pack.js';
