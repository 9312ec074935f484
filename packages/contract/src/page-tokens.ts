import {
  createHash,
  createHmac,
  createSecretKey,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import type { Arguments } from './tool/spec.js';

/** The query that a token is bound to. */
export interface TokenBinding {
  readonly tool: string;
  readonly account: string;
  /** The arguments that must not change between pages. */
  readonly args: Arguments;
}

/** `signature` covers forged tokens and tokens of another query, which cannot be told apart. */
export type TokenRefusal = 'malformed' | 'too_long' | 'version' | 'signature' | 'expired';

export type DecodedToken =
  | { readonly ok: true; readonly cursor: unknown }
  | { readonly ok: false; readonly reason: TokenRefusal };

export interface PageTokens {
  readonly encode: (binding: TokenBinding, cursor: unknown) => string;
  readonly decode: (binding: TokenBinding, token: string) => DecodedToken;
}

export interface PageTokenOptions {
  /** Newest first: the first signs, all verify. At least 32 bytes each. */
  readonly keys: readonly Uint8Array[];
  /** Lifetime of a token. Default: unlimited. */
  readonly ttlMs?: number;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  readonly maxLength?: number;
}

const VERSION = 1;
// Half of HMAC-SHA256: 128 bits cannot be guessed, and a model has to copy the token.
const MAC_BYTES = 16;
const HEAD_BYTES = 1 + MAC_BYTES;
const MIN_KEY_BYTES = 32;
const DEFAULT_MAX_LENGTH = 8192;
/** Header and the smallest cursor, in base64. */
const MIN_LENGTH = 32;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * Opaque page tokens: base64url of version, signature and payload. They are stateless, so they work
 * after a restart and on every machine with the key. The payload is signed, not encrypted: a cursor
 * must never contain a credential.
 */
export function createPageTokens(options: PageTokenOptions): PageTokens {
  const { keys, ttlMs, now, maxLength } = checkedOptions(options);
  const [newest, ...older] = keys.map(secretKey);
  if (!newest) throw new RangeError('keys: must contain at least one key');
  const verificationKeys = [newest, ...older];

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
    if (token.length > maxLength) return invalid('too_long');
    const bytes = Buffer.from(token, 'base64url');
    const isCanonical = BASE64URL.test(token) && bytes.toString('base64url') === token;
    if (!isCanonical || bytes.length <= HEAD_BYTES) return invalid('malformed');
    if (bytes[0] !== VERSION) return invalid('version');
    const mac = bytes.subarray(1, HEAD_BYTES);
    const payload = bytes.subarray(HEAD_BYTES);
    const isAuthentic = verificationKeys.some((key) =>
      timingSafeEqual(mac, sign(key, binding, payload)),
    );
    if (!isAuthentic) return invalid('signature');
    const [cursor, expires] = JSON.parse(payload.toString()) as readonly [unknown, number?];
    return expires !== undefined && now() >= expires ? invalid('expired') : { ok: true, cursor };
  };

  return Object.freeze({ encode, decode });
}

/** Validates the options at creation rather than at the first list. */
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
  // A hash of fixed length separates the query from the payload.
  const query = createHash('sha256').update(canonicalJson({ tool, account, args })).digest();
  const mac = createHmac('sha256', key).update(`toolkeel page token ${VERSION}\n`);
  return mac.update(query).update(payload).digest().subarray(0, MAC_BYTES);
}

function invalid(reason: TokenRefusal): DecodedToken {
  return { ok: false, reason };
}
