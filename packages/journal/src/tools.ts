// What a host needs of a journal before it opens one: quick to load, without stores.
export { templateProblem } from './identity/keyless.js';
export { getOperationTool } from './operations/get-operation.js';
