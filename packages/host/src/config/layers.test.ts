import { expect, it } from 'vitest';
import { type Environment, packLayer } from './layers.js';

const fromEnvironment = (env: Environment) => ({
  ...(env['P_URL'] && { catalogs: { default: { url: env['P_URL'] } }, defaultCatalog: 'default' }),
  ...((env['P_SECS'] ?? env['ALL_SECS']) && { secs: Number(env['P_SECS'] ?? env['ALL_SECS']) }),
  ...(env['P_TOKEN'] && { token: { env: 'P_TOKEN' } }),
});

const layerOf = (env: Environment) =>
  packLayer({ pack: { name: 'p' } as never, fromEnvironment }, env);

it('attributes each setting to its variable', () => {
  const { values, originOf } = layerOf({
    P_URL: 'https://x.example',
    P_TOKEN: 't',
    ALL_SECS: 'soon',
    OTHER: 'x',
  });
  expect(values).toMatchObject({ packs: { p: { token: { env: 'P_TOKEN' }, secs: NaN } } });
  expect(originOf(['packs', 'p', 'catalogs', 'default', 'url'])).toBe('P_URL');
  expect(originOf(['packs', 'p', 'defaultCatalog'])).toBe('P_URL');
  expect(originOf(['packs', 'p', 'token'])).toBe('P_TOKEN');
  expect(originOf(['packs', 'p', 'secs'])).toBe('ALL_SECS');
});

it('attributes a setting to the variable with the higher precedence', () => {
  const { originOf } = layerOf({ P_SECS: '1', ALL_SECS: '2' });
  expect(originOf(['packs', 'p', 'secs'])).toBe('P_SECS');
});

it('is empty if no variable is set', () => {
  const { values, originOf } = layerOf({ OTHER: 'x', P_URL: '' });
  expect(values).toEqual({});
  expect(originOf(['packs', 'p', 'url'])).toBe('the environment');
});
