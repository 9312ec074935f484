import { isIllFormed } from './json.js';

/** A value that has no canonical JSON form, at `path`. */
export class CanonicalJsonError extends TypeError {
  override readonly name = 'CanonicalJsonError';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
  }
}

const MAX_DEPTH = 500;

/**
 * Serializes a value to canonical JSON (RFC 8785), which does not depend on the order of members.
 * Undefined members are dropped, as by JSON.stringify. Throws for everything else that JSON cannot
 * represent, so that different values never serialize equally: NaN and Infinity, BigInt, lone
 * surrogates, `undefined` in an array or at the root, functions, symbols, cycles, and objects that are
 * not plain (a Date, a Map).
 */
export function canonicalJson(value: unknown): string {
  return write(value, '$', []);
}

function write(value: unknown, path: string, ancestors: object[]): string {
  switch (typeof value) {
    case 'string':
      return writeString(value, path);
    case 'number':
      return writeNumber(value, path);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : writeObject(value, path, ancestors);
    default:
      throw new CanonicalJsonError(path, `${typeof value} has no JSON form`);
  }
}

function writeString(value: string, path: string): string {
  if (isIllFormed(value)) throw new CanonicalJsonError(path, 'lone surrogate');
  // The RFC prescribes the escapes of ECMAScript.
  return JSON.stringify(value);
}

function writeNumber(value: number, path: string): string {
  if (!Number.isFinite(value)) throw new CanonicalJsonError(path, `${value} has no JSON form`);
  // The RFC prescribes the number format of ECMAScript, which writes -0 as 0.
  return String(value);
}

function writeObject(value: object, path: string, ancestors: object[]): string {
  if (ancestors.includes(value)) throw new CanonicalJsonError(path, 'cycle');
  if (ancestors.length >= MAX_DEPTH) throw new CanonicalJsonError(path, 'nested too deeply');
  ancestors.push(value);
  const text = Array.isArray(value)
    ? writeArray(value, path, ancestors)
    : writeMembers(value, path, ancestors);
  ancestors.pop();
  return text;
}

function writeArray(items: readonly unknown[], path: string, ancestors: object[]): string {
  // map() would skip the holes of a sparse array.
  let text = '';
  for (let index = 0; index < items.length; index += 1) {
    if (index > 0) text += ',';
    text += write(items[index], `${path}[${index}]`, ancestors);
  }
  return `[${text}]`;
}

function writeMembers(value: object, path: string, ancestors: object[]): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new CanonicalJsonError(path, 'not a plain object');
  }
  const members = new Map<string, unknown>(Object.entries(value));
  let text = '';
  // toSorted() orders by UTF-16 code units, as the RFC prescribes.
  for (const key of [...members.keys()].toSorted()) {
    const member = members.get(key);
    if (member === undefined) continue;
    if (text !== '') text += ',';
    const at = `${path}.${key}`;
    text += `${writeString(key, at)}:${write(member, at, ancestors)}`;
  }
  return `{${text}}`;
}
