import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxUpstream, Settings } from './line.js';

const YEAR_MS = 365 * 86_400_000;

/** X on loopback. Its token is in a file, as a real one would be, so that no settings show it. */
export async function startXSandboxUpstream(flags: Settings): Promise<SandboxUpstream> {
  const { startXSandbox, xOptionsFromFlags } = await import('@toolkeel/sandbox');
  const sandbox = await startXSandbox(xOptionsFromFlags(flags));
  const { url, authorizeUrl, tokenUrl, control, credentials } = sandbox;
  const { clientId, clientSecret } = credentials;
  const tier = sandbox.tier();
  // Whoever leaves a sandbox open over night should find it as it was.
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
        // Not where a real login is kept.
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
