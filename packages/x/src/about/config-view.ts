import { stat } from 'node:fs/promises';
import type { Client } from '../api/client.js';
import type { XConfig } from '../config.js';
import { writingProblem } from '../auth/login-file.js';
import { ConfigError } from '../secrets.js';
import { NotConfigured } from '../not-configured.js';

const SECRETS = ['bearerToken', 'accessToken', 'clientSecret'] as const;

/** The settings as they hold. Of secrets it says whether they are set, and of addresses no password. */
export function redacted(config: XConfig): Readonly<Record<string, unknown>> {
  const { baseUrl, authorizeUrl, ...rest } = config;
  const shown = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !SECRETS.includes(name as never)),
  );
  const isSet = SECRETS.map((name) => [name, config[name] ? '[set]' : '[not set]'] as const);
  return {
    baseUrl: withoutPassword(baseUrl),
    authorizeUrl: withoutPassword(authorizeUrl),
    ...Object.fromEntries(isSet),
    ...shown,
  };
}

function withoutPassword(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

interface Finding {
  readonly severity: 'error' | 'warning';
  readonly setting: string;
  readonly message: string;
}

const OVER = 'the login has expired and cannot be renewed: run `toolkeel login x`';

/** What is missing or wrong. The shape was checked when the pack was made: this is about the world. */
export async function findings(client: Client): Promise<readonly Finding[]> {
  const { config, session } = client;
  const found: Finding[] = [];
  const error = (setting: string, message: string) =>
    found.push({ severity: 'error', setting, message });
  const warning = (setting: string, message: string) =>
    found.push({ severity: 'warning', setting, message });

  const isThere = session.user?.isThere() ?? false;
  if (!session.app && !session.user)
    error('accessToken', 'neither a login nor an app token is set');
  else if (session.app && !isThere)
    warning('tokenFile', 'without a login only public reads are possible');
  else found.push(...(await loginFindings(client)));
  const { protocol, hostname } = new URL(config.baseUrl);
  if (protocol === 'http:' && !/^(?:127\.|localhost$|\[::1\]$)/.test(hostname)) {
    warning('baseUrl', 'is not https: tokens go over the network in the open');
  }
  for (const folder of config.mediaDirectories) {
    const isFolder = await stat(folder).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    if (!isFolder) error('mediaDirectories', `${folder} is not a folder`);
  }
  if (config.accessToken && config.tokenFile !== undefined) {
    warning('tokenFile', 'is not used, because accessToken is set');
  }
  return found;
}

async function loginFindings({ config, session }: Client): Promise<readonly Finding[]> {
  const { accessToken, tokenFile } = config;
  const error = (message: string): Finding => ({
    severity: 'error',
    setting: 'tokenFile',
    message,
  });
  const problem = await session.user?.scopes().then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (problem !== undefined) return [error(messageOf(problem))];
  const cannotBeKept =
    accessToken || tokenFile === undefined ? undefined : await writingProblem(tokenFile);
  return [
    ...(session.user?.isOver() ? [error(OVER)] : []),
    ...(cannotBeKept ? [error(cannotBeKept.message)] : []),
  ];
}

function messageOf(problem: unknown): string {
  const isOurs = problem instanceof ConfigError || problem instanceof NotConfigured;
  return isOurs ? problem.message : 'cannot be used';
}
