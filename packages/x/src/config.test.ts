import { describe, expect, it } from 'vitest';
import { configFromEnvironment, configSchema, pricesOf } from './config.js';
import { postCost, itemCost } from './cost.js';

describe('configuration', () => {
  it('has a default for everything', () => {
    expect(configSchema.parse({})).toMatchObject({
      baseUrl: 'https://api.x.com',
      account: 'default',
      tier: 'self_serve',
      maxPostLength: 280,
      toolTimeoutSecs: 15,
      attemptTimeoutSecs: 10,
      maxRetries: 2,
    });
  });

  it('comes from the environment, without secrets', () => {
    const env = {
      TOOLKEEL_X_BASE_URL: 'http://127.0.0.1:1',
      TOOLKEEL_X_BEARER_TOKEN: 'sesame',
      TOOLKEEL_X_ACCESS_TOKEN: 'sesame',
      TOOLKEEL_X_CLIENT_SECRET: 'sesame',
      TOOLKEEL_X_CLIENT_ID: 'app',
      TOOLKEEL_X_AUTHORIZE_URL: 'http://127.0.0.1:1/allow',
      TOOLKEEL_X_TOKEN_FILE: '/x.json',
      TOOLKEEL_X_TIER: 'enterprise',
      TOOLKEEL_TOOL_TIMEOUT_SECS: '20',
    };
    const config = configFromEnvironment(env);
    expect(config).toEqual({
      baseUrl: 'http://127.0.0.1:1',
      bearerToken: { env: 'TOOLKEEL_X_BEARER_TOKEN' },
      accessToken: { env: 'TOOLKEEL_X_ACCESS_TOKEN' },
      clientSecret: { env: 'TOOLKEEL_X_CLIENT_SECRET' },
      clientId: 'app',
      authorizeUrl: 'http://127.0.0.1:1/allow',
      tokenFile: '/x.json',
      tier: 'enterprise',
      toolTimeoutSecs: 20,
    });
    expect(JSON.stringify(config)).not.toContain('sesame');
    expect(configSchema.safeParse(config).success).toBe(true);
    expect(configFromEnvironment({})).toEqual({});
  });

  it.each([
    ['baseUrl', { baseUrl: 'ftp://x' }],
    ['tier', configFromEnvironment({ TOOLKEEL_X_TIER: 'gold' })],
    ['toolTimeoutSecs', configFromEnvironment({ X_MCP_TOOL_TIMEOUT_SECS: 'soon' })],
    ['accessToken', { accessToken: 'in the open' }],
    ['prices', { prices: { pots: 1 } }],
    ['maxPostLength', { maxPostLength: 0 }],
  ])('rejects an invalid %s by name', (name, given) => {
    const parsed = configSchema.safeParse(given);
    expect(parsed.error?.issues[0]?.path[0]).toBe(name);
  });
});

describe('cost estimates', () => {
  const prices = pricesOf({ post: 0.5 });

  it('use the price list and the configured overrides', () => {
    expect(postCost(prices, ['hello'])).toEqual({ amount: 0.5, unit: 'USD' });
    expect(postCost(prices, ['see example.com'])).toEqual({ amount: 0.2, unit: 'USD' });
    expect(postCost(prices, ['hello'], 'summoned_reply').amount).toBe(0.01);
    expect(postCost(pricesOf({}), ['a', 'b', 'https://example.com']).amount).toBe(0.23);
    expect(itemCost(pricesOf({}), 'post_read', 3).amount).toBe(0.015);
  });
});
