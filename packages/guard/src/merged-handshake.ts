import type { Branch, Members } from './branch.js';
import { isObject, objectIn } from './frame.js';
import { isLegacyVersion, LEGACY_VERSIONS } from './legacy-route.js';

const NEWEST_VERSION = '2025-11-25';

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
  const ready = branches.flatMap(({ upstream, result }) => (result ? [{ upstream, result }] : []));
  const declared = ready.map(({ result }) => objectIn(result, 'capabilities'));
  const all = ready.length < branches.length ? [...declared, POSSIBLE] : declared;
  const capabilities = MERGED.flatMap((name) => {
    const found = all.flatMap((one) => (isObject(one[name]) ? [one[name]] : []));
    return found.length === 0 ? [] : [[name, mergeFlags(found)] as const];
  });
  const instructions = ready.flatMap(({ upstream, result }) => {
    const text = result['instructions'];
    return typeof text === 'string' && text !== '' ? [`# ${upstream.name}\n${text}`] : [];
  });
  const isKnown = typeof protocolVersion === 'string' && isLegacyVersion(protocolVersion);
  return {
    protocolVersion: isKnown ? protocolVersion : NEWEST_VERSION,
    capabilities: { ...Object.fromEntries(capabilities), tools: { listChanged: true } },
    serverInfo: { name: 'toolkeel-guard', version: '0.1.0' },
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
  };
}

/** A flag that one upstream sets is set. */
function mergeFlags(given: readonly Members[]): Members {
  const flags = given.flatMap((one) => Object.entries(one).filter(([, value]) => value === true));
  return Object.fromEntries(flags);
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Why a request before the handshake is refused. Revision 2026-07-28 has none. */
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
