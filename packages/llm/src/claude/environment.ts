import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Environment } from '@toolkeel/pack-kit/base';
import { notConfigured } from '../core/provider.js';

/** What the CLI needs of the user's environment: to find programs and its own login, and to reach the network. */
const passed = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'https_proxy',
  'http_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SystemRoot',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'TEMP',
  'TMP',
] as const;

/** Retries and timeouts are ours alone, and the CLI sends nothing but the request. */
const controls = {
  CLAUDE_CODE_MAX_RETRIES: '0',
  CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
  // With them the CLI repeats a refused request (400) without one after the other.
  CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1',
  API_TIMEOUT_MS: '600000',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
} as const;

/** Credentials of API-key modes. They would replace the user's login, so no child ever sees them. */
const withheld: readonly string[] = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];

export interface CliSettings {
  readonly env: Environment;
  /** Another API address, for the sandbox. */
  readonly baseUrl?: string | undefined;
  /** A folder of the request's own. */
  readonly folder: string;
  readonly maxOutputTokens?: number | undefined;
}

/** The complete environment of the CLI. */
export function cliEnvironment({ env, baseUrl, folder, maxOutputTokens }: CliSettings) {
  const own = passed.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(own),
    ...controls,
    // The user's login is for the provider only: another address gets a made-up one.
    ...(baseUrl !== undefined && {
      ANTHROPIC_BASE_URL: baseUrl,
      HOME: folder,
      CLAUDE_CONFIG_DIR: folder,
      CLAUDE_CODE_OAUTH_TOKEN: 'sandbox',
    }),
    ...(maxOutputTokens !== undefined && {
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxOutputTokens),
    }),
  };
}

/** Removes what must not reach the child, also if the SDK or a later change adds it. */
export function withoutKeys(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !withheld.includes(name)));
}

/** The CLI: as configured, else TOOLKEEL_CLAUDE_PATH, else `claude` on the PATH. */
export function findCli(path: string | undefined, env: Environment): string {
  const given = path ?? env['TOOLKEEL_CLAUDE_PATH'];
  if (given !== undefined && given !== '') {
    const isFile = isAbsolute(given) && statSync(given, { throwIfNoEntry: false })?.isFile();
    if (isFile && (isScript(given) || isExecutable(given))) return given;
    throw notConfigured(
      isFile
        ? `The Claude CLI at ${given} is not executable. Run chmod +x, or set another path`
        : `The Claude CLI is not at ${given}. Set an absolute path to an existing file`,
    );
  }
  const names = process.platform === 'win32' ? ['claude.exe', 'claude.cmd'] : ['claude'];
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const found = folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isExecutable);
  if (found !== undefined) return found;
  throw notConfigured(
    'The Claude CLI is not installed. Install it and log in (`claude`, then /login), or set TOOLKEEL_CLAUDE_PATH',
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const isScript = (cli: string): boolean => /\.[cm]?js$/.test(cli);

/** How to run the CLI directly: a script needs Node.js. */
export const commandOf = (cli: string): readonly [string, ...string[]] =>
  isScript(cli) ? [process.execPath, cli] : [cli];
