import { describe, expect, it } from 'vitest';
import { checkPublic, parseTarget, TargetRefused } from './target.js';

describe('targets', () => {
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
  ])('refuses %s', (href) => {
    expect(() => checkPublic(parseTarget(href))).toThrow(TargetRefused);
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
  ])('refuses %s, which is not http', (href) => {
    expect(() => parseTarget(href)).toThrow(TargetRefused);
  });

  it('refuses credentials in an address, and does not repeat them', () => {
    expect(() => parseTarget('https://user:hunter2@example.com/')).toThrow(/credentials/);
    expect(() => parseTarget('https://user:hunter2@example.com/')).not.toThrow(/hunter2/);
  });
});
