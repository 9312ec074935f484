import fc from 'fast-check';
import { expect, it } from 'vitest';
import { clean } from './clean.js';
import { knownSecrets } from './known-secrets.js';

const token = 'tok-ABCDEF_0123456789';
const known = () => {
  const secrets = knownSecrets();
  secrets.pass(token);
  return secrets;
};

it('cuts a secret out where it stands, and leaves the rest', () => {
  const { takeOut } = known();
  expect(takeOut(`Bearer ${token} is over`)).toBe('Bearer [secret] is over');
  expect(takeOut('50% off &amp; more\nnews')).toBe('50% off &amp; more\nnews');
});

it('keeps nothing of a text that spells a secret in a way of its own', () => {
  const { takeOut } = known();
  const escaped = token.replace('-', '&#45;').replace('_', '%255F');
  expect(takeOut(`see ${escaped}`)).toBe('[secret]');
});

it('forgets tokens that were replaced long ago, and never what stays', () => {
  const told: string[] = [];
  const secrets = knownSecrets((value) => told.push(value));
  secrets.keep('the-client-secret');
  for (let index = 100; index < 200; index++) secrets.pass(`token-number-${index}`);
  secrets.pass('token-number-199');
  expect(told).toHaveLength(101);
  expect(secrets.isIn('token-number-100')).toBe(false);
  expect(secrets.isIn('token-number-170')).toBe(true);
  expect(secrets.isIn('the-client-secret')).toBe(true);
});

it('changes no document that holds no secret, and survives every other', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (doc) => {
      const before = JSON.stringify(doc);
      expect(JSON.stringify(clean(doc, known()))).toBe(before);
    }),
  );
  const nasty = fc.stringMatching(/^(?:[%&#;x\\u0-9a-f]|amp|\n){0,40}$/);
  fc.assert(
    fc.property(nasty, nasty, (before, after) => {
      const doc = clean(
        JSON.parse(JSON.stringify({ [before]: [`${before}${token}${after}`] })),
        known(),
      );
      expect(JSON.stringify(doc)).not.toContain(token);
    }),
  );
});

it('takes secrets out of names and numbers, also of a name that means something to JavaScript', () => {
  const secrets = knownSecrets();
  secrets.keep('123456789');
  const doc = clean(
    JSON.parse('{"a123456789":1,"__proto__":"123456789","n":[1234567890,5]}'),
    secrets,
  );
  expect(Object.entries(doc as object)).toEqual(
    expect.arrayContaining([
      ['a[secret]', 1],
      ['__proto__', '[secret]'],
      ['n', [null, 5]],
    ]),
  );
});
