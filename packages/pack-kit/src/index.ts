export { createRedactor, type Redactor, type RedactorOptions } from './redact/redactor.js';
