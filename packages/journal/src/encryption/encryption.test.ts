import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JournalError } from '../error.js';
import { isEncrypted, ephemeralEncryption, createEncryption } from './encryption.js';

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const one = createEncryption(key(1));
const reasonOf = (action: () => unknown): string | undefined => {
  try {
    action();
  } catch (error) {
    return error instanceof JournalError ? error.reason : String(error);
  }
  return undefined;
};

describe('encryption', () => {
  test('decrypts what it encrypted, which is not readable in between', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        const encrypted = one.encrypt(text, context);
        expect(one.decrypt(encrypted, context)).toBe(text);
        expect(isEncrypted(encrypted)).toBe(true);
        if (text.length > 3) expect(encrypted).not.toContain(text);
      }),
    );
  });

  test('encrypts the same text differently each time', () => {
    expect(one.encrypt('a', 'x')).not.toBe(one.encrypt('a', 'x'));
  });

  test('produces values that are distinguishable from JSON', () => {
    expect(one.encrypt('{}', 'op_1')).toMatch(/^sealed1\./);
    expect(isEncrypted('{"text":"sealed1."}')).toBe(false);
  });

  test('binds the value to its context', () => {
    expect(reasonOf(() => one.decrypt(one.encrypt('a', 'op_1'), 'op_2'))).toBe('corrupt');
  });

  test('rejects another key and names both keys', () => {
    const other = createEncryption(key(2));
    expect(other.keyId).not.toBe(one.keyId);
    expect(() => other.decrypt(one.encrypt('a', 'x'), 'x')).toThrow(one.keyId);
    expect(reasonOf(() => other.decrypt(one.encrypt('a', 'x'), 'x'))).toBe('key');
  });

  test('rejects any altered value', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const encrypted = one.encrypt('some text', 'x');
        const start = encrypted.lastIndexOf('.') + 1;
        const bytes = Buffer.from(encrypted.slice(start), 'base64url');
        bytes[at % bytes.length]! ^= flip;
        const altered = encrypted.slice(0, start) + bytes.toString('base64url');
        expect(reasonOf(() => one.decrypt(altered, 'x'))).toBe('corrupt');
      }),
    );
  });

  test('rejects any other string', () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (text, dressed) => {
        const said = dressed ? `sealed1.${one.keyId}.${text}` : text;
        expect(['corrupt', 'key']).toContain(reasonOf(() => one.decrypt(said, 'x')));
      }),
    );
  });

  test('keyed hashes and derived keys depend on the key and the purpose', () => {
    const other = createEncryption(key(2));
    expect(one.keyedHash('a')).toMatch(/^[0-9a-f]{64}$/);
    expect(one.keyedHash('a')).toBe(createEncryption(key(1)).keyedHash('a'));
    expect(one.keyedHash('a')).not.toBe(other.keyedHash('a'));
    expect(one.derive('pages')).toHaveLength(32);
    expect(one.derive('pages')).toEqual(createEncryption(key(1)).derive('pages'));
    expect(one.derive('pages')).not.toEqual(one.derive('other'));
    expect(ephemeralEncryption().keyId).not.toBe(ephemeralEncryption().keyId);
    expect(() => createEncryption(new Uint8Array(16))).toThrow('32 bytes');
  });
});
