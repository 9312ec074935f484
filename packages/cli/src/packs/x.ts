import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuiltinPack, SandboxUpstream, Settings } from './pack.js';

export const x: BuiltinPack = {
  load: async () => {
    const { x: pack, configFromEnvironment } = await import('@toolkeel/x/pack');
    return {
      pack,
      fromEnvironment: configFromEnvironment,
      preset: 'social',
      // A configured access token takes precedence over the login.
      keptIn: (dataDir, { accessToken }) =>
        accessToken === undefined ? { tokenFile: xLoginFile(dataDir) } : {},
    };
  },
  firstCall: { name: 'get_capabilities', arguments: {} },
  demonstration: {
    call: { name: 'x_post_tweet', arguments: { text: 'Hello' } },
    faults: [{ kind: 'close-after-read', routes: ['create-post'], times: 1 }],
  },
  sandbox: {
    flags: async () => (await import('@toolkeel/sandbox')).xFlags,
    start: startXSandboxUpstream,
  },
  setup: {
    isReady: false,
    question: 'Which X API? Leave empty for X itself.',
    placeholder: 'https://api.x.com',
    settings: (baseUrl) => ({ baseUrl }),
  },
  login: async (request) => (await import('./x-login.js')).logIntoX(request),
  check: async (settings) => (await import('./x-login.js')).checkXLogin(settings),
};

/** The default file of the X login. */
export const xLoginFile = (dataDir: string): string => join(dataDir, 'x-login.json');

const YEAR_MS = 365 * 86_400_000;

/** The X sandbox. Its token is in a file, like a real one, so that no settings contain it. */
async function startXSandboxUpstream(flags: Settings): Promise<SandboxUpstream> {
  const { startXSandbox, xOptionsFromFlags } = await import('@toolkeel/sandbox');
  const sandbox = await startXSandbox(xOptionsFromFlags(flags));
  const { url, authorizeUrl, tokenUrl, control, credentials } = sandbox;
  const { clientId, clientSecret } = credentials;
  const tier = sandbox.tier();
  // A sandbox must keep working if it runs overnight.
  const { accessToken } = sandbox.issueTokens({ lifetimeMs: YEAR_MS });
  const folder = privateFolder();
  const file = join(folder, 'access-token');
  writeFileSync(file, accessToken, { mode: 0o600 });
  return {
    settings: {
      baseUrl: url,
      authorizeUrl,
      clientId,
      tier,
      account: 'sandbox',
      accessToken: { file },
    },
    addresses: { api: url, authorize: authorizeUrl, token: tokenUrl, control: control.url },
    environment: {
      TOOLKEEL_X_BASE_URL: url,
      TOOLKEEL_X_ACCESS_TOKEN: accessToken,
      ...(tier === 'enterprise' && { TOOLKEEL_X_TIER: tier }),
    },
    login: {
      clientId,
      environment: {
        TOOLKEEL_X_BASE_URL: url,
        TOOLKEEL_X_AUTHORIZE_URL: authorizeUrl,
        // Keeps a real login untouched.
        TOOLKEEL_X_TOKEN_FILE: join(folder, 'login.json'),
        ...(clientSecret !== undefined && { TOOLKEEL_X_CLIENT_SECRET: clientSecret }),
      },
    },
    close: async () => {
      rmSync(folder, { recursive: true, force: true });
      await sandbox.close();
    },
  };
}

function privateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolkeel-x-'));
  chmodSync(folder, 0o700);
  return folder;
}
