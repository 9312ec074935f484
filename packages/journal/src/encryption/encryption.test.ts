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

describe('sealing', () => {
  test('whatever was sealed can be opened, and not be read', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, about) => {
        const sealed = one.encrypt(text, about);
        expect(one.decrypt(sealed, about)).toBe(text);
        expect(isEncrypted(sealed)).toBe(true);
        if (text.length > 3) expect(sealed).not.toContain(text);
      }),
    );
  });

  test('the same text is sealed differently each time', () => {
    expect(one.encrypt('a', 'x')).not.toBe(one.encrypt('a', 'x'));
  });

  test('does not look like JSON', () => {
    expect(one.encrypt('{}', 'op_1')).toMatch(/^sealed1\./);
    expect(isEncrypted('{"text":"sealed1."}')).toBe(false);
  });

  test('is bound to what it is about', () => {
    expect(reasonOf(() => one.decrypt(one.encrypt('a', 'op_1'), 'op_2'))).toBe('corrupt');
  });

  test('with another key it is refused, with the names of both', () => {
    const other = createEncryption(key(2));
    expect(other.keyId).not.toBe(one.keyId);
    expect(() => other.decrypt(one.encrypt('a', 'x'), 'x')).toThrow(one.keyId);
    expect(reasonOf(() => other.decrypt(one.encrypt('a', 'x'), 'x'))).toBe('key');
  });

  test('any change of it is refused', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const sealed = one.encrypt('some text', 'x');
        const start = sealed.lastIndexOf('.') + 1;
        const bytes = Buffer.from(sealed.slice(start), 'base64url');
        bytes[at % bytes.length]! ^= flip;
        const altered = sealed.slice(0, start) + bytes.toString('base64url');
        expect(reasonOf(() => one.decrypt(altered, 'x'))).toBe('corrupt');
      }),
    );
  });

  test('any other text is refused, never misread', () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (text, dressed) => {
        const said = dressed ? `sealed1.${one.keyId}.${text}` : text;
        expect(['corrupt', 'key']).toContain(reasonOf(() => one.decrypt(said, 'x')));
      }),
    );
  });

  test('fingerprints and derived keys depend on the key and the purpose', () => {
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
