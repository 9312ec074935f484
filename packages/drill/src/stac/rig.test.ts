import { expect, test } from 'vitest';
import { serverEnvironment, settings } from './rig.js';

test('the settings name only the upstreams of the variant', () => {
  const { packs } = settings({
    mainUrl: 'http://127.0.0.1:1',
    otherUrl: 'http://127.0.0.1:2/stac',
    hedge: true,
    sites: 2,
  });
  expect(packs.stac).toEqual({
    builtinCatalogs: false,
    hedge: true,
    catalogs: {
      other: { url: 'http://127.0.0.1:2/stac' },
      'site-0': { url: 'http://127.0.0.1:1/?site=0' },
      'site-1': { url: 'http://127.0.0.1:1/?site=1' },
      'cold-0': { url: 'http://127.0.0.1:1/?cold=0' },
      'cold-1': { url: 'http://127.0.0.1:1/?cold=1' },
    },
  });
});

test('the environment of this process does not configure the servers', () => {
  const env = {
    PATH: '/bin',
    TOOLKEEL_PROFILE: 'workflow',
    STAC_MCP_TOOL_TIMEOUT_SECS: '1',
    MISSING: undefined,
  };
  expect(serverEnvironment(env, { TOOLKEEL_STAC_URL: 'http://127.0.0.1:1' })).toEqual({
    PATH: '/bin',
    TOOLKEEL_STAC_URL: 'http://127.0.0.1:1',
  });
});
