/**
 * The pack and its settings without the client, for commands that must start fast.
 *
 * @module
 */
export { configFromEnvironment, configSchema } from './config.js';
export { github } from './pack.js';

/** Which of the configured tools the credential does not allow, for `toolkeel doctor`. */
export const checkPermissions = async (settings: unknown) =>
  (await import('./instance.js')).checkPermissions(settings);
