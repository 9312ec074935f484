import { isIllFormed } from './json.js';

/** A value that has no canonical JSON form. `path` says where it stands. */
export class CanonicalJsonError extends TypeError {
  override readonly name = 'CanonicalJsonError';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
  }
}

/** Far above what a person writes, far below what ends the stack. */
const MAX_DEPTH = 500;

/**
 * The canonical JSON text of a value (RFC 8785): one text for one value, whatever the order in
 * which its members were written. Members that are `undefined` are dropped, as JSON.stringify does.
 * Everything else that JSON cannot carry is refused, because two values that differ must never
 * share a text: NaN and Infinity, BigInt, lone surrogates, `undefined` in an array or at the root,
 * functions, symbols, cycles, and objects that are not plain (a Date, a Map).
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
  // ECMAScript's own escapes are the ones that the RFC prescribes.
  return JSON.stringify(value);
}

function writeNumber(value: number, path: string): string {
  if (!Number.isFinite(value)) throw new CanonicalJsonError(path, `${value} has no JSON form`);
  // The RFC takes ECMAScript's number format; it writes -0 as 0.
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
  // A counted loop, because map() would skip the holes of a sparse array.
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
  // toSorted() without a comparator orders by UTF-16 code units, which is the RFC's order.
  for (const key of [...members.keys()].toSorted()) {
    const member = members.get(key);
    if (member === undefined) continue;
    if (text !== '') text += ',';
    const at = `${path}.${key}`;
    text += `${writeString(key, at)}:${write(member, at, ancestors)}`;
  }
  return `{${text}}`;
}
