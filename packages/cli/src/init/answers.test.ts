import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packLine } from '../packs.js';
import { UsageError } from '../usage-error.js';
import { answersFrom, configOf, urlProblem } from './answers.js';

describe('what the command line answers', () => {
  it('has defaults', () => {
    expect(answersFrom({})).toEqual({ profile: 'readonly', packs: ['stac'], upstreams: {} });
  });

  it('is taken as it is, and an upstream names its pack', () => {
    const url = 'https://stac.example.com/v1?a=b';
    expect(answersFrom({ profile: 'api', upstream: [`stac=${url}`] })).toEqual({
      profile: 'api',
      packs: ['stac'],
      upstreams: { stac: url },
    });
  });

  it.each([
    [{ profile: 'readonli' }, /Did you mean "readonly"/],
    [{ pack: ['stak'] }, /Did you mean "stac"/],
    [{ upstream: ['stak=https://a.example'] }, /Did you mean "stac"/],
    [{ upstream: ['https://a.example'] }, /is not PACK=URL/],
    [{ upstream: ['stac=a.example'] }, /--upstream stac: "a.example" is not an address/],
    [{ upstream: ['stac=ftp://a.example'] }, /must begin with https/],
    [{ upstream: ['stac=https://me:hunter2@a.example'] }, /holds a password/],
    [{ upstream: ['stac=https://a.example?api_key=hunter2'] }, /holds a secret in its query/],
  ])('%j is refused', (flags, message) => {
    const refused = () => answersFrom(flags);
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(message);
    expect(refused).not.toThrow(/hunter2/);
  });
});

it('an address is judged without a crash, whatever it is', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => {
      const problem = urlProblem(text);
      return problem !== undefined || /^\s*https?:/i.test(text);
    }),
  );
});

it('the file that follows is one that the packs accept', async () => {
  const schema = 'https://example.com/s.json';
  const upstreams = { stac: 'https://stac.example.com' };
  const config = configOf({ profile: 'api', packs: ['stac'], upstreams }, schema);
  expect(config).toMatchObject({ $schema: schema, profile: 'api' });
  const { pack } = await packLine('stac').load();
  const { stac } = config['packs'] as { stac: unknown };
  expect(pack.configSchema.parse(stac)).toMatchObject({
    defaultCatalog: 'default',
    catalogs: { default: { url: upstreams.stac } },
  });
});
