export { isDailyQuota } from './google-errors.js';
export { isRateLimited } from './is-rate-limited.js';
export { parseServerHints, type ServerHints } from './parse-server-hints.js';
export { MAX_PLAUSIBLE_WAIT_MS } from './plausible.js';
export type { ResponseLike } from './response.js';
