import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress, parsePort } from './options.js';
import { UsageError } from './errors.js';

describe('parseAddress', () => {
  it.each([
    ['8080', { port: 8080 }],
    [':8080', { port: 8080 }],
    ['0', { port: 0 }],
    ['localhost', { host: 'localhost' }],
    ['localhost:1', { host: 'localhost', port: 1 }],
    ['0.0.0.0:65535', { host: '0.0.0.0', port: 65_535 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['[::1]', { host: '::1' }],
  ])('parses %s', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
  });

  it.each([
    '',
    ':',
    '65536',
    'a:b',
    'a:65536',
    '::1',
    'a:1:2',
    'http://a:1',
    '[::1',
    'a b:1',
    'a/b',
  ])('refuses "%s"', (text) => {
    expect(() => parseAddress(text)).toThrow(UsageError);
  });

  it('parses or refuses any string', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.domain()), (text) => {
        try {
          const { host = '', port } = parseAddress(text);
          return text.includes(host) && (port === undefined || (port >= 0 && port <= 65_535));
        } catch (error) {
          return error instanceof UsageError;
        }
      }),
    );
  });

  it('round-trips host and port', () => {
    const hosts = fc.oneof(fc.ipV4(), fc.domain());
    fc.assert(
      fc.property(hosts, fc.nat(65_535), (host, port) => {
        expect(parseAddress(`${host}:${port}`)).toEqual({ host, port });
      }),
    );
  });
});

it.each(['-1', '1.5', '1e3', '0x1', '', ' 1', '99999'])('parsePort refuses "%s"', (text) => {
  expect(() => parsePort(text)).toThrow(/is not a port/);
});
