/**
 * What a host and the description of a pack need: settings, secrets, redaction, suggestions. Loads neither
 * the kernel nor an HTTP client.
 *
 * @module
 */
export * from './cache.js';
export * from './json.js';
export * from './redact/redactor.js';
export * from './secrets.js';
export * from './settings.js';
export * from './strings.js';
export * from './suggestions.js';
