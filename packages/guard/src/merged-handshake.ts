import type { Branch, Members } from './branch.js';
import { MODERN_VERSION } from './bridge-parts.js';
import { isObject, objectIn } from './frame.js';
import { isLegacyVersion, LEGACY_VERSIONS } from './legacy-route.js';

const NEWEST_VERSION = '2025-11-25';
const META = 'io.modelcontextprotocol/';
export const VERSION_KEY = `${META}protocolVersion`;
export const CAPABILITIES_KEY = `${META}clientCapabilities`;
const SERVER_INFO_KEY = `${META}serverInfo`;
const SERVER_INFO = Object.freeze({ name: 'toolkeel-guard', version: '0.1.0' });

/** How long results of the guard may be cached in revision 2026-07-28: upstreams come and go. */
const UNCACHED = Object.freeze({ ttlMs: 0, cacheScope: 'private' });

/**
 * What a client may use of an upstream that is still starting. Lists of what it turns out not to have
 * are empty; a capability that was not declared could never be added.
 */
const POSSIBLE: Members = Object.freeze({
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
});

/** Capabilities that one upstream can have for all. Tasks belong to the upstream that started them. */
const MERGED = Object.keys(POSSIBLE);

/** The answer to a client's handshake, from those of its upstreams. */
export function mergedHandshake(
  { protocolVersion }: Members,
  branches: readonly Branch[],
): Members {
  const isKnown = typeof protocolVersion === 'string' && isLegacyVersion(protocolVersion);
  return {
    protocolVersion: isKnown ? protocolVersion : NEWEST_VERSION,
    capabilities: mergedCapabilities(branches),
    serverInfo: SERVER_INFO,
    ...mergedInstructions(branches),
  };
}

/** The answer to `server/discover`. */
export function mergedDiscovery(branches: readonly Branch[]): Members {
  return {
    ...completed({
      supportedVersions: [MODERN_VERSION],
      capabilities: mergedCapabilities(branches),
      ...mergedInstructions(branches),
    }),
    _meta: { [SERVER_INFO_KEY]: SERVER_INFO },
  };
}

/** A result of the guard in revision 2026-07-28. */
export function completed(result: Members): Members {
  return { resultType: 'complete', ...UNCACHED, ...result };
}

export function mergedCapabilities(branches: readonly Branch[]): Members {
  const declared = branches.flatMap(({ result }) =>
    result ? [objectIn(result, 'capabilities')] : [],
  );
  const all = declared.length < branches.length ? [...declared, POSSIBLE] : declared;
  const capabilities = MERGED.flatMap((name) => {
    const found = all.flatMap((one) => (isObject(one[name]) ? [one[name]] : []));
    return found.length === 0 ? [] : [[name, mergeFlags(found)] as const];
  });
  return { ...Object.fromEntries(capabilities), tools: { listChanged: true } };
}

function mergedInstructions(branches: readonly Branch[]): Members {
  const instructions = branches.flatMap(({ upstream, result }) => {
    const text = result?.['instructions'];
    return typeof text === 'string' && text !== '' ? [`# ${upstream.name}\n${text}`] : [];
  });
  return instructions.length > 0 ? { instructions: instructions.join('\n\n') } : {};
}

/** A flag that one upstream sets is set. */
function mergeFlags(given: readonly Members[]): Members {
  const flags = given.flatMap((one) => Object.entries(one).filter(([, value]) => value === true));
  return Object.fromEntries(flags);
}

/** Whether a request is one of revision 2026-07-28, which has no handshake. */
export function isModernRequest(method: string, params: Members): boolean {
  return method === 'server/discover' || objectIn(params, '_meta')[VERSION_KEY] !== undefined;
}

/** Why a request of revision 2026-07-28 is refused; undefined if it is not. */
export function modernProblem(method: string, params: Members) {
  const meta = objectIn(params, '_meta');
  const requested = meta[VERSION_KEY];
  if (method === 'server/discover' && requested === undefined) return undefined;
  if (typeof requested !== 'string' || !isObject(meta[CAPABILITIES_KEY])) {
    const message = `Invalid params: _meta needs ${VERSION_KEY} and ${CAPABILITIES_KEY}`;
    return { code: -32_602, message };
  }
  if (requested === MODERN_VERSION) return undefined;
  const data = { supported: [MODERN_VERSION], requested };
  return { code: -32_022, message: 'Unsupported protocol version', data };
}

/** Why a request before the handshake is refused: not every upstream can be used without one. */
export function notStarted(method: string, params: Members) {
  const requested = objectIn(params, '_meta')[VERSION_KEY];
  // Clients that know both take this answer as a sign of an earlier revision.
  if (method === 'server/discover') return { code: -32_601, message: 'Method not found' };
  if (requested === undefined) {
    return { code: -32_600, message: 'Invalid Request: the session is not initialized' };
  }
  const data = { supported: [...LEGACY_VERSIONS], requested };
  return { code: -32_022, message: 'Unsupported protocol version', data };
}
