import { hostname } from 'node:os';
import { styleText } from 'node:util';
import {
  consoleTokenFile,
  ephemeralConsoleToken,
  type LoadedConfig,
  type OperatorApi,
  persistentConsoleToken,
} from '@toolkeel/host';
import { type OpenedHost, openHost, type ServerFlags } from '../open-host.js';
import { cliPack } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';
import { shellWord, snippetsFor } from '../snippets.js';
import { serveHttp } from './serve.js';

export interface UpFlags extends ServerFlags {
  readonly host?: string;
  readonly port?: number;
}

/** Starts the HTTP server and prints how to connect. */
export async function up(
  named: readonly string[],
  flags: UpFlags,
  runtime: RuntimeContext,
  stopped: Promise<void>,
): Promise<void> {
  const { host, port } = flags;
  const address = { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
  const opened = await openHost(named, flags, runtime, address);
  const { stdout } = runtime;
  const operator = await openOperatorApi(opened);
  const welcome = ({ url }: { readonly url: string }): void => {
    stdout.write(welcomeText(opened, url, stdout.colours, operator?.token));
  };
  await serveHttp(opened, stopped, welcome, operator ? { api: operator.api } : {});
}

/** The operator API, and its token as a shell expression. */
async function openOperatorApi({
  governance,
  loaded,
  sandboxes,
  log,
}: OpenedHost): Promise<{ readonly api: OperatorApi; readonly token: string } | undefined> {
  if (sandboxes) {
    const token = ephemeralConsoleToken();
    return { api: await governance.api(token), token: token.reveal() };
  }
  const { dataDir, secrets } = loaded;
  try {
    const api = await governance.api(persistentConsoleToken(dataDir, secrets));
    return { api, token: `$(cat ${shellWord(consoleTokenFile(dataDir))})` };
  } catch (cause) {
    log('warn', 'no_api_for_people', { dir: dataDir, cause });
    return undefined;
  }
}

function welcomeText(
  { host, packs, sandboxes, loaded }: OpenedHost,
  url: string,
  colours: boolean,
  /** As a shell expression. */
  consoleToken?: string,
): string {
  const bold = (text: string): string =>
    colours ? styleText('bold', text, { validateStream: false }) : text;
  const mcp = `${url}/mcp`;
  const authorization = authorizationOf(loaded);
  const addresses = [...(sandboxes?.byPack ?? [])].flatMap(([name, upstream]) =>
    Object.entries(upstream.addresses)
      .filter(([what]) => what === 'api' || what === 'control')
      .map(([what, address]) => [`${name} ${what}`, address] as const),
  );
  const facts = [
    ['MCP', mcp],
    ...remoteUrls(loaded, url).map((address) => ['remote', `${address}/mcp`] as const),
    ['health', `${url}/healthz`],
    ['metrics', `${url}/metrics`],
    ['tools', `${host.tools.length}, profile ${host.profile.name}, packs ${packs.join(', ')}`],
    ...addresses,
    ...(consoleToken === undefined
      ? []
      : [
          [
            'operator API',
            `curl -H "Authorization: Bearer ${consoleToken}" ${url}/api/approvals`,
          ] as const,
        ]),
  ] as const;
  const snippets = snippetsFor({ url: mcp, ...(authorization !== undefined && { authorization }) });
  return [
    bold('Toolkeel is up.'),
    ...(sandboxes
      ? ['All upstreams are local sandboxes: no credential is used and no real service is called.']
      : []),
    '',
    ...facts.map(([what, value]) => `  ${what.padEnd(14)} ${value}`),
    '',
    bold('Connect a client'),
    ...snippets.flatMap(({ client, where, text }) => ['', `  ${client}, ${where}:`, indent(text)]),
    '',
    bold(packs.length > 1 ? 'Try a first call of each pack' : 'Try a first call'),
    '',
    ...packs.flatMap((name) => [indent(curlFor(mcp, name, authorization)), '']),
    'Press Ctrl-C to stop.',
    '',
  ].join('\n');
}

/** Addresses for other machines, if the server listens on all interfaces. */
function remoteUrls({ httpOptions }: LoadedConfig, url: string): readonly string[] {
  const { host, allowedHosts = [hostname()] } = httpOptions;
  if (host !== '0.0.0.0' && host !== '::') return [];
  return allowedHosts.map((name) => `http://${name}:${new URL(url).port}`);
}

function curlFor(mcp: string, pack: string, authorization: string | undefined): string {
  const params = cliPack(pack).firstCall;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return [
    `curl -sS ${shellWord(mcp)}`,
    ...(authorization === undefined ? [] : [`-H "Authorization: ${authorization}"`]),
    `-H 'Content-Type: application/json'`,
    `-H 'Accept: application/json, text/event-stream'`,
    `-d ${shellWord(body)}`,
  ].join(' \\\n  ');
}

/** The header as a shell expression, without the token itself. */
function authorizationOf({ config }: LoadedConfig): string | undefined {
  const { token } = config.http;
  if (token === undefined) return undefined;
  const value = 'env' in token ? `$${token.env}` : `$(cat ${shellWord(token.file)})`;
  return `Bearer ${token.prefix ?? ''}${value}`;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
