import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkPublic,
  isPublicAddress,
  lookupWith,
  parseTarget,
  TargetNotAllowed,
  type Resolve,
} from './ssrf.js';

describe('request targets', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://0x7f.0.0.0x1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[fe80::1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://api.localhost/',
    'http://printer.local/',
    'http://metadata.google.internal/',
    'http://①②⑦.⓪.⓪.①/',
  ])('rejects %s', (href) => {
    expect(() => checkPublic(parseTarget(href))).toThrow(TargetNotAllowed);
  });

  it.each(['https://stac.example.com/v1', 'http://8.8.8.8/', 'https://[2606:4700::1]/stac'])(
    'accepts %s',
    (href) => {
      expect(() => checkPublic(parseTarget(href))).not.toThrow();
    },
  );

  it.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'gopher://x/',
    'javascript:1',
    'not a url',
    '',
  ])('rejects %s, which is not http', (href) => {
    expect(() => parseTarget(href)).toThrow(TargetNotAllowed);
  });

  it('rejects credentials in a URL without repeating them', () => {
    expect(() => parseTarget('https://user:hunter2@example.com/')).toThrow(/credentials/);
    expect(() => parseTarget('https://user:hunter2@example.com/')).not.toThrow(/hunter2/);
  });
});

const notPublic = [
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

const publicAddresses = [
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
  it.each(notPublic)('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(publicAddresses)('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it('rejects strings that are not IP addresses', () => {
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
  const embedded = fc.tuple(byte, byte, byte, byte).map((bytes) => bytes.join('.'));

  it('rejects every IPv6 address that embeds an IPv4 address', () => {
    fc.assert(
      fc.property(
        embedded,
        fc.constantFrom('::ffff:', '::', '64:ff9b::', '::ffff:0:'),
        (v4, prefix) => {
          expect(isPublicAddress(prefix + v4)).toBe(false);
        },
      ),
    );
  });

  it('rejects every address of a private network', () => {
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

  it('compares all bits of the prefix of an IPv6 address, in any notation', () => {
    const group = (...edges: readonly number[]) =>
      fc.oneof(fc.constantFrom(...edges), fc.nat(0xffff));
    const groups = fc.tuple(
      group(0x1fff, 0x2000, 0x2001, 0x2002, 0x2620, 0x3fff, 0x4000),
      group(0, 0x1ff, 0x200, 0xdb8, 0x4f, 0xfff, 0x1000),
      group(0x7fff, 0x8000, 0x8001),
      ...Array.from({ length: 5 }, () => group(0)),
    );
    const isSpecial = ([a, b, c]: readonly number[]) =>
      (a === 0x2001 && (b! < 0x200 || b === 0xdb8)) ||
      a === 0x2002 ||
      (a === 0x2620 && b === 0x4f && c === 0x8000) ||
      (a === 0x3fff && b! < 0x1000);
    fc.assert(
      fc.property(groups, (values) => {
        const isPublic = values[0] >> 13 === 1 && !isSpecial(values);
        const full = values.map((value) => value.toString(16)).join(':');
        const compressed = new URL(`http://[${full}]/`).hostname.slice(1, -1);
        const padded = values.map((value) => value.toString(16).padStart(4, '0').toUpperCase());
        for (const address of [full, compressed, padded.join(':'), `${full}%eth0`]) {
          expect([address, isPublicAddress(address)]).toEqual([address, isPublic]);
        }
      }),
    );
  });
});

const v4 = (address: string): LookupAddress => ({ address, family: 4 });

type Answer = { error: Error | null; address: string | LookupAddress[] };

const ask = (resolve: Resolve, options: { all?: boolean; family?: number } = {}, check = true) =>
  new Promise<Answer>((done) => {
    const lookup = lookupWith(resolve, check ? isPublicAddress : undefined);
    lookup('stac.example', options, (error, address) => done({ error, address }));
  });

describe('lookupWith', () => {
  it('returns the checked address after a single resolution', async () => {
    const answers = [[v4('93.184.216.34')], [v4('127.0.0.1')]];
    let asked = 0;
    const answer = await ask(async () => answers[asked++]!);
    expect(answer).toEqual({ error: null, address: '93.184.216.34' });
    expect(asked).toBe(1);
  });

  it('returns all addresses with `all`, and those of one family with `family`', async () => {
    const both = [v4('93.184.216.34'), { address: '2606:4700::1', family: 6 }];
    const { address } = await ask(async () => both, { all: true });
    expect(address).toEqual(both);
    expect((await ask(async () => both, { family: 6 })).address).toBe('2606:4700::1');
  });

  it('rejects a name if one of its addresses is private', async () => {
    const { error } = await ask(async () => [v4('93.184.216.34'), v4('10.0.0.7')], { all: true });
    expect(error?.name).toBe('TargetNotAllowed');
    expect(error?.message).not.toContain('10.0.0.7');
  });

  it('reports ENOTFOUND for a name without addresses', async () => {
    const { error } = await ask(async () => []);
    expect(error).toMatchObject({ code: 'ENOTFOUND' });
  });

  it('passes the error of the resolver through', async () => {
    const failure = Object.assign(new Error('try again'), { code: 'EAI_AGAIN' });
    const { error } = await ask(async () => {
      throw failure;
    });
    expect(error).toBe(failure);
  });

  it('allows private addresses for trusted names', async () => {
    expect((await ask(async () => [v4('10.0.0.7')], {}, false)).address).toBe('10.0.0.7');
  });
});
