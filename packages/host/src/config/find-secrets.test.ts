import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Secrets } from '../secret/secrets.js';
import { findSecrets } from './find-secrets.js';
import { secretSource } from './secret-source.js';

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

describe('a secret in an address', () => {
  it('belongs into the environment where the configuration can say so', () => {
    const { issues } = find({ url: 'postgres://me:hunter2-hunter2@db/x' });
    expect(issues).toEqual([
      {
        origin: 'file',
        pointer: '/url',
        message:
          'holds a password, which does not belong here: write { "env": "NAME" } or { "file": "PATH" } instead',
      },
    ]);
    expect(schema.shape.url.safeParse({ env: 'NAME' }).success).toBe(true);
  });

  it.each([
    ['https://u:hunter2-hunter2@x.example', 'a password'],
    ['https://hunter2-hunter2@x.example', 'a user name'],
    ['https://x.example?api_key=hunter2-hunter2', 'a secret in its query'],
  ])('belongs into headers where there are some: %s', (url, what) => {
    const { issues, secrets } = find({ catalogs: { a: { url } } });
    expect(issues).toEqual([
      {
        origin: 'file',
        pointer: '/catalogs/a/url',
        message:
          `holds ${what}, which does not belong here: leave it out, and have it sent in ` +
          '/catalogs/a/headers, such as { "Authorization": { "env": "NAME", "prefix": "Bearer " } }',
      },
    ]);
    expect(secrets.scrub('it is hunter2-hunter2')).toBe('it is [redacted]');
  });

  it('is left out where there is no other place for it', () => {
    const { issues } = find({ origins: ['https://u:hunter2-hunter2@x.example'] });
    expect(issues).toMatchObject([
      { pointer: '/origins/0', message: expect.stringMatching(/: leave it out$/) },
    ]);
  });
});
