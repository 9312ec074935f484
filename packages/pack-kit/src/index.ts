export { createRedactor, type Redactor, type RedactorOptions } from './redact/redactor.js';
export { asQuestion, closestMatches, didYouMean } from './suggestions.js';
