import { isPublicAddress } from '@toolkeel/pack-kit';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Catalogs } from './api/catalogs.js';
import { configFromEnvironment, configSchema } from './config.js';

const catalogs = (config: z.input<typeof configSchema>, env = {}) =>
  new Catalogs(configSchema.parse(config), env, isPublicAddress);

describe('the configuration', () => {
  it('has two built-in catalogues and a default', () => {
    const known = catalogs({});
    expect(known.names).toEqual(['earth-search', 'planetary-computer']);
    expect(known.defaultName).toBe('earth-search');
    expect(known.byName('planetary-computer').signing).toBeDefined();
  });

  it('converts to JSON Schema', () => {
    expect(z.toJSONSchema(configSchema, { io: 'input' })).toMatchObject({ type: 'object' });
  });

  it.each([
    [{ catalog: {} }],
    [{ catalogs: { 'Bad Name': { url: 'https://a.example' } } }],
    [{ catalogs: { a: { url: 'ftp://a.example' } } }],
    [{ catalogs: { a: { url: 'https://a.example', headers: { 'bad header': 'x' } } } }],
    [{ toolTimeoutSecs: 0 }],
  ])('rejects %j', (config) => {
    expect(configSchema.safeParse(config).success).toBe(false);
  });

  it('reads the URL and the timeout from the environment', () => {
    expect(configFromEnvironment({})).toEqual({});
    const env = { TOOLKEEL_STAC_URL: 'http://127.0.0.1:1/', TOOLKEEL_TOOL_TIMEOUT_SECS: '7' };
    const config = configSchema.parse(configFromEnvironment(env));
    expect(config).toMatchObject({ defaultCatalog: 'default', toolTimeoutSecs: 7 });
    const both = { ...env, STAC_MCP_TOOL_TIMEOUT_SECS: '2' };
    expect(configFromEnvironment(both).toolTimeoutSecs).toBe(2);
    expect(
      configSchema.safeParse(configFromEnvironment({ TOOLKEEL_TOOL_TIMEOUT_SECS: 'x' })).success,
    ).toBe(false);
  });

  const problemsOf = (config: unknown) =>
    (configSchema.safeParse(config).error?.issues ?? []).map(
      ({ path, message }) => `${path.join('.')} ${message}`,
    );

  it('rejects an unknown default and an empty list of catalogues', () => {
    expect(problemsOf({ defaultCatalog: 'x' })).toEqual([
      expect.stringMatching(/^defaultCatalog .*earth-search, planetary-computer/),
    ]);
    expect(problemsOf({ builtinCatalogs: false })).toEqual([
      expect.stringMatching(/^catalogs .*builtinCatalogs/),
    ]);
    expect(problemsOf({ builtinCatalogs: false, defaultCatalog: 'earth-search' })).toHaveLength(1);
    const own = { a: { url: 'https://a.example' } };
    expect(problemsOf({ catalogs: own, defaultCatalog: 'a', builtinCatalogs: false })).toEqual([]);
    expect(catalogs({ catalogs: own, builtinCatalogs: false }).defaultName).toBe('a');
  });

  it.each([
    'https://u:p@a.example',
    'https://u@a.example',
    'https://a.example/?api_key=hidden',
    'https://a.example/?subscription-key=hidden',
    'https://a.example/?x=1&accessToken=hidden',
    'https://a.example/?sig=hidden',
    'https://a.example/?APIKEY=hidden',
  ])('rejects a credential in a URL and suggests headers: %s', (url) => {
    const signing = { tokenUrl: url };
    for (const one of [
      { url },
      { url: 'https://b.example', trustedOrigins: [url] },
      { url: 'https://b.example', signing },
    ]) {
      const problems = problemsOf({ catalogs: { a: one } });
      expect(problems).toEqual([expect.stringMatching(/^catalogs\.a\..*`headers`.*"env"/)]);
      expect(problems.join(' ')).not.toContain('hidden');
    }
  });

  it('accepts a URL with other parameters', () => {
    const url = 'https://a.example/?f=json&monkey=1&keyword=x&token=';
    expect(problemsOf({ catalogs: { a: { url } } })).toEqual([]);
  });

  it('describes valid names', () => {
    const url = 'https://a.example';
    expect(problemsOf({ catalogs: { Ours: { url } } })).toEqual([
      expect.stringMatching(/^catalogs\.Ours .*lowercase letters/),
    ]);
    expect(problemsOf({ catalogs: { a: { url, headers: { 'a b': 'x' } } } })).toEqual([
      expect.stringMatching(/^catalogs\.a\.headers\.a b .*header/),
    ]);
  });
});

describe('secrets', () => {
  it('are redacted', () => {
    const config = {
      catalogs: {
        a: {
          url: 'https://a.example',
          headers: { Authorization: { env: 'T', prefix: 'Bearer ' }, 'X-Client': 'me' },
        },
      },
    };
    const one = catalogs(config, { T: 'secret-value' }).byName('a');
    expect(one.headers).toEqual({ authorization: 'Bearer secret-value', 'x-client': 'me' });
    expect(one.secrets.redact('Bearer secret-value')).toBe('[redacted]');
    expect(one.secrets.redact('me: secret-value')).toBe('me: [redacted]');
  });
});
