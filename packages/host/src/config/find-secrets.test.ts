import { secretSource } from '@toolkeel/pack-kit/base';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Secrets } from '../secret/secrets.js';
import { environmentSecrets, findSecrets, secretInUrl } from './find-secrets.js';
import fc from 'fast-check';

const schema = z.strictObject({
  url: z.union([z.string(), secretSource]),
  catalogs: z.record(
    z.string(),
    z.strictObject({ url: z.string(), headers: z.record(z.string(), secretSource).optional() }),
  ),
  origins: z.array(z.string()),
});

const find = (config: unknown) => {
  const secrets = new Secrets();
  const issues = findSecrets(config, {}, secrets, () => 'file', schema);
  return { issues, secrets };
};

it.each(['GH_PAT', 'DB_PASS', 'MYSQL_PWD', 'AWS_ACCESS_KEY_ID', 'STORAGE_ACCESSKEY', 'API_TOKEN'])(
  'a variable with this name is a secret: %s',
  (name) => {
    const secrets = environmentSecrets({ [name]: 'hunter2-hunter2' }, new Secrets());
    expect(secrets.scrub('hunter2-hunter2')).toBe('[redacted]');
  },
);

it.each(['PWD', 'OLDPWD', 'PATH', 'BYPASS', 'SORT_KEY'])(
  'a variable with this name is not: %s',
  (name) => {
    const secrets = environmentSecrets({ [name]: '/home/me/notes' }, new Secrets());
    expect(secrets.scrub('/home/me/notes')).toBe('/home/me/notes');
  },
);

describe('a secret in a URL', () => {
  it('is reported with a secret source as the alternative, if the schema accepts one', () => {
    const { issues } = find({ url: 'postgres://me:hunter2-hunter2@db/x' });
    expect(issues).toEqual([
      {
        origin: 'file',
        pointer: '/url',
        message:
          'contains a password in plain text: use { "env": "NAME" } or { "file": "PATH" } instead',
      },
    ]);
    expect(schema.shape.url.safeParse({ env: 'NAME' }).success).toBe(true);
  });

  it.each([
    ['https://u:hunter2-hunter2@x.example', 'a password'],
    ['https://hunter2-hunter2@x.example', 'a user name'],
    ['https://x.example?api_key=hunter2-hunter2', 'a secret in its query'],
  ])('is reported with headers as the alternative, if the schema has them: %s', (url, what) => {
    const { issues, secrets } = find({ catalogs: { a: { url } } });
    expect(issues).toEqual([
      {
        origin: 'file',
        pointer: '/catalogs/a/url',
        message:
          `contains ${what} in plain text: remove it and set ` +
          '/catalogs/a/headers, such as { "Authorization": { "env": "NAME", "prefix": "Bearer " } }',
      },
    ]);
    expect(secrets.scrub('it is hunter2-hunter2')).toBe('it is [redacted]');
  });

  it('is reported without an alternative if there is none', () => {
    const { issues } = find({ origins: ['https://u:hunter2-hunter2@x.example'] });
    expect(issues).toMatchObject([
      { pointer: '/origins/0', message: expect.stringMatching(/: remove it$/) },
    ]);
  });
});

describe('finding a secret in a URL', () => {
  it.each([
    ['https://u:pass-word@x.example', 'a password', 'pass-word'],
    ['https://u:pass%20word@x.example', 'a password', 'pass word'],
    ['https://u:100%@x.example', 'a password', '100%'],
    ['postgres://me:pass-word@db/x', 'a password', 'pass-word'],
    ['https://tok-en@x.example/v1', 'a user name', 'tok-en'],
    ['https://x.example/v1?api_key=val', 'a secret in its query', 'val'],
    ['https://x.example/v1?a=b&subscription-key=val', 'a secret in its query', 'val'],
    ['https://x.example?access_token=val', 'a secret in its query', 'val'],
    ['https://x.example?X-Amz-Signature=val', 'a secret in its query', 'val'],
    ['https://x.example?sv=1&SIG=val', 'a secret in its query', 'val'],
    ['postgres://db/x?password=val', 'a secret in its query', 'val'],
  ])('%s contains %s', (url, what, value) => {
    const found = secretInUrl(url);
    expect(found?.what).toBe(what);
    expect(found?.values).toContain(value);
  });

  it.each([
    'https://x.example/v1?collections=a&sortkey=b&token_type=c&key=',
    'https://x.example/a@b?c=d:e@f',
    'postgres://me@db/x',
    'sqlite:journal.db',
    'memory:',
    'not a URL, although it contains password=x',
    'https://',
  ])('%s contains none', (url) => {
    expect(secretInUrl(url)).toBeUndefined();
  });

  it('never throws, and only finds values that the URL contains', () => {
    const text = fc.oneof(
      fc.string(),
      fc.webUrl({ withQueryParameters: true, validSchemes: ['a'] }),
    );
    const part = fc.stringMatching(/^[\w%.~-]{1,12}$/);
    const withUser = fc.tuple(part, part, fc.domain()).map(([u, p, d]) => `https://${u}:${p}@${d}`);
    fc.assert(fc.property(text, (given) => void secretInUrl(given)));
    fc.assert(
      fc.property(withUser, (given) => {
        const { values = [] } = secretInUrl(given) ?? {};
        return values.some((value) => given.includes(value));
      }),
    );
  });
});
