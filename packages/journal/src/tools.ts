// What a host needs before it opens a journal. Loads no store.
export { templateProblem } from './dedup-key/templates.js';
export { getOperationTool } from './operations/get-operation.js';
export { KEY_IN_META } from './dedup-key/dedup-key.js';
