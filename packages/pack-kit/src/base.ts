/**
 * What a host and the description of a pack need: settings, secrets, redaction, suggestions. Loads neither
 * the kernel nor an HTTP client.
 *
 * @module
 */
export { createRedactor, type Redactor, type RedactorOptions } from './redact/redactor.js';
export { asQuestion, closestMatches, didYouMean } from './suggestions.js';
export { BoundedMap, TtlCache } from './cache.js';
export {
  arrayOf,
  compact,
  countOf,
  isObject,
  memberOf,
  numberOf,
  numbersOf,
  objectOf,
  objectsOf,
  stringOf,
  stringsOf,
  type JsonObject,
} from './json.js';
export { oneLine, urlUnder, withoutTrailingSlashes } from './strings.js';
export {
  ConfigError,
  privateFileProblem,
  readSecret,
  requirePrivateFile,
  secretSource,
  type Environment,
  type SecretSource,
} from './secrets.js';
export { commonSettings, httpUrl, policyOf, settingsFromEnvironment } from './settings.js';
export {
  isModelError,
  modelCodes,
  modelErrorToToolError,
  modelNotConfigured,
} from './text-model.js';
