import {
  createHash,
  createHmac,
  createSecretKey,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import type { Arguments } from './tool/spec.js';

/** The query that a token belongs to. A token is worthless on any other. */
export interface TokenBinding {
  readonly tool: string;
  readonly account: string;
  /** The arguments that must not change from page to page. */
  readonly args: Arguments;
}

/** `signature` covers both a forged token and one from another query: the token cannot tell. */
export type TokenRefusal = 'malformed' | 'too_long' | 'version' | 'signature' | 'expired';

export type DecodedToken =
  | { readonly ok: true; readonly cursor: unknown }
  | { readonly ok: false; readonly reason: TokenRefusal };

export interface PageTokens {
  readonly encode: (binding: TokenBinding, cursor: unknown) => string;
  readonly decode: (binding: TokenBinding, token: string) => DecodedToken;
}

export interface PageTokenOptions {
  /** Newest first: signed with the first, accepted with any. At least 32 bytes each. */
  readonly keys: readonly Uint8Array[];
  /** How long a token is good for; unlimited if left out. */
  readonly ttlMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly maxLength?: number;
}

const VERSION = 1;
// Half of HMAC-SHA256. A model has to copy the token, and 128 bits are out of reach of guessing.
const MAC_BYTES = 16;
const HEAD_BYTES = 1 + MAC_BYTES;
const MIN_KEY_BYTES = 32;
const DEFAULT_MAX_LENGTH = 8192;
/** Head and the smallest cursor, in base64. */
const MIN_LENGTH = 32;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * Opaque page tokens: base64url of version, signature and payload. They need no memory, so they
 * work after a restart and on every machine that has the key. The payload is signed, not encrypted:
 * whoever holds a token can read its cursor, so a cursor must never carry a credential.
 */
export function createPageTokens(options: PageTokenOptions): PageTokens {
  const { keys, ttlMs, now, maxLength } = checkedOptions(options);
  const [newest, ...older] = keys.map(secretKey);
  if (!newest) throw new RangeError('keys: at least one is needed to sign with');
  const ring = [newest, ...older];

  const encode: PageTokens['encode'] = (binding, cursor) => {
    const payload = Buffer.from(canonicalJson(ttlMs ? [cursor, now() + ttlMs] : [cursor]));
    const bytes = Buffer.concat([Buffer.of(VERSION), sign(newest, binding, payload), payload]);
    const token = bytes.toString('base64url');
    if (token.length > maxLength) {
      throw new RangeError(`page token of ${token.length} characters; ${maxLength} are allowed`);
    }
    return token;
  };

  const decode: PageTokens['decode'] = (binding, token) => {
    if (token.length > maxLength) return refuse('too_long');
    const bytes = Buffer.from(token, 'base64url');
    const isCanonical = BASE64URL.test(token) && bytes.toString('base64url') === token;
    if (!isCanonical || bytes.length <= HEAD_BYTES) return refuse('malformed');
    if (bytes[0] !== VERSION) return refuse('version');
    const mac = bytes.subarray(1, HEAD_BYTES);
    const payload = bytes.subarray(HEAD_BYTES);
    const isOurs = ring.some((key) => timingSafeEqual(mac, sign(key, binding, payload)));
    if (!isOurs) return refuse('signature');
    const [cursor, expires] = JSON.parse(payload.toString()) as readonly [unknown, number?];
    return expires !== undefined && now() >= expires ? refuse('expired') : { ok: true, cursor };
  };

  return Object.freeze({ encode, decode });
}

/** Thrown when the tokens are made, and not when the first list is asked for. */
function checkedOptions(options: PageTokenOptions) {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('createPageTokens: needs options with keys');
  }
  const { keys, ttlMs, now = Date.now, maxLength = DEFAULT_MAX_LENGTH } = options;
  if (!Array.isArray(keys)) throw new TypeError('keys: must be a list of Uint8Array');
  if (ttlMs !== undefined && !(Number.isFinite(ttlMs) && ttlMs > 0)) {
    throw new RangeError('ttlMs: must be a finite number above 0; leave it out for no limit');
  }
  if (typeof now !== 'function') throw new TypeError('now: must be a function');
  if (!(Number.isSafeInteger(maxLength) && maxLength >= MIN_LENGTH)) {
    throw new RangeError(`maxLength: must be a whole number, ${MIN_LENGTH} or more`);
  }
  return { keys: keys as PageTokenOptions['keys'], ttlMs, now, maxLength };
}

function secretKey(key: Uint8Array): KeyObject {
  if (!(key instanceof Uint8Array)) throw new TypeError('keys: must be a list of Uint8Array');
  if (key.length < MIN_KEY_BYTES) {
    throw new RangeError(`keys: ${key.length} bytes are too short; ${MIN_KEY_BYTES} are needed`);
  }
  return createSecretKey(key);
}

function sign(key: KeyObject, binding: TokenBinding, payload: Buffer): Buffer {
  const { tool, account, args } = binding;
  // The query goes in as a hash of fixed length, so that it cannot run over into the payload.
  const query = createHash('sha256').update(canonicalJson({ tool, account, args })).digest();
  const mac = createHmac('sha256', key).update(`toolkeel page token ${VERSION}\n`);
  return mac.update(query).update(payload).digest().subarray(0, MAC_BYTES);
}

function refuse(reason: TokenRefusal): DecodedToken {
  return { ok: false, reason };
}
