import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, parseAddress } from './addresses.js';

const inside = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '::8.8.8.8',
  '64:ff9b::7f00:1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
];

const outside = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
];

describe('public addresses', () => {
  it.each(inside)('%s is not one', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(outside)('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it('takes nothing for an address that is none', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (isIP(text) === 0) expect(isPublicAddress(text)).toBe(false);
      }),
    );
    for (const text of [
      '',
      'localhost',
      '127.1',
      '2130706433',
      '0x7f.1',
      '1.2.3',
      '::g',
      '1::2::3',
    ])
      expect(isPublicAddress(text)).toBe(false);
  });

  const byte = fc.nat(255);
  const carried = fc.tuple(byte, byte, byte, byte).map((bytes) => bytes.join('.'));

  it('never takes an IPv6 address that carries an IPv4 address', () => {
    fc.assert(
      fc.property(
        carried,
        fc.constantFrom('::ffff:', '::', '64:ff9b::', '::ffff:0:'),
        (v4, prefix) => {
          expect(isPublicAddress(prefix + v4)).toBe(false);
        },
      ),
    );
  });

  it('takes no address of a private network, whatever follows the prefix', () => {
    fc.assert(
      fc.property(byte, byte, byte, (b, c, d) => {
        for (const first of [0, 10, 127, 224 + (b % 16), 240 + (b % 16)])
          expect(isPublicAddress(`${first}.${b}.${c}.${d}`)).toBe(false);
        expect(isPublicAddress(`172.${16 + (b % 16)}.${c}.${d}`)).toBe(false);
        expect(isPublicAddress(`192.168.${c}.${d}`)).toBe(false);
        expect(isPublicAddress(`169.254.${c}.${d}`)).toBe(false);
      }),
    );
  });

  it('reads all sixteen bytes of any IPv6 address', () => {
    const group = fc.nat(0xffff);
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const text = groups.map((value) => value.toString(16)).join(':');
        expect(parseAddress(text)).toEqual(groups.flatMap((value) => [value >> 8, value & 0xff]));
      }),
    );
  });
});
