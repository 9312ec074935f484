import { hostname } from 'node:os';
import { styleText } from 'node:util';
import type { LoadedConfig } from '@toolkeel/host';
import { type OpenedHost, openHost, type ServerFlags } from '../open-host.js';
import { openCatalog, type PackCatalog } from '../packs.js';
import { consoleExtras } from '../console-extras.js';
import type { RuntimeContext } from '../runtime.js';
import { shellWord, snippetsFor } from '../snippets.js';

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
  const catalog = await openCatalog(flags, runtime);
  const opened = await openHost(catalog, named, flags, runtime, address);
  const { url, consoleToken, consoleLink, close } = await opened.listen({ console: consoleExtras });
  const { stdout } = runtime;
  const operator = { token: shellToken(consoleToken), link: consoleLink?.() };
  stdout.write(welcomeText(opened, catalog, url, stdout.colours, operator));
  await stopped;
  await close();
}

type ConsoleToken = Awaited<ReturnType<OpenedHost['listen']>>['consoleToken'];

/** The operator's token as a shell expression. The token of a sandbox may be displayed. */
function shellToken(token: ConsoleToken): string | undefined {
  if (!token) return undefined;
  return 'value' in token ? token.value : `$(cat ${shellWord(token.file)})`;
}

function welcomeText(
  opened: OpenedHost,
  catalog: PackCatalog,
  url: string,
  colours: boolean,
  /** The token as a shell expression. */
  operator: { readonly token: string | undefined; readonly link: string | undefined },
): string {
  const { host, packs, sandboxes, loaded } = opened;
  const bold = (text: string): string =>
    colours ? styleText('bold', text, { validateStream: false }) : text;
  const mcp = `${url}/mcp`;
  const authorization = authorizationOf(loaded);
  const addresses = [...(sandboxes?.byPack ?? [])].flatMap(([name, upstream]) =>
    Object.entries(upstream.addresses)
      .filter(([what]) => what === 'api' || what === 'control')
      .map(([what, address]) => [`${name} ${what}`, address] as const),
  );
  const { token: consoleToken, link } = operator;
  const facts = [
    ['MCP', mcp],
    ...(link === undefined ? [] : [['console', `${link} (signs in once)`] as const]),
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
  const demonstrations = demonstrationsOf(opened, catalog);
  const firstCalls = packs.flatMap((name) =>
    demonstrations.has(name) ? [] : (catalog.get(name).firstCall ?? []),
  );
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
    ...(firstCalls.length > 0
      ? [bold(firstCalls.length > 1 ? 'Try a first call of each pack' : 'Try a first call'), '']
      : []),
    ...firstCalls.flatMap((call) => [indent(curlFor(mcp, call, authorization)), '']),
    ...[...demonstrations.values()].flatMap(({ control, call, faults }) => {
      const post = curlFor(mcp, call, authorization);
      const rules = shellWord(JSON.stringify(faults));
      return [
        bold('Lose a response, and see that nothing is executed twice'),
        '',
        ...step(
          'Make the sandbox execute the next post and lose its response:',
          `curl -sS -w '\\n' -X PUT ${control}/faults -d ${rules}`,
        ),
        ...step('Post. Toolkeel reads the outcome back instead of posting again:', post),
        ...step('Post the same again. The first result is replayed:', post),
        ...step(
          'Read the log of the sandbox. It has one post:',
          `curl -sS -w '\\n' ${control}/commits`,
        ),
      ];
    }),
    'Press Ctrl-C to stop.',
    '',
  ].join('\n');
}

const step = (what: string, command: string): readonly string[] => [
  `  ${what}`,
  indent(command),
  '',
];

/** Addresses for other machines, if the server listens on all interfaces. */
function remoteUrls({ httpOptions }: LoadedConfig, url: string): readonly string[] {
  const { host, allowedHosts = [hostname()] } = httpOptions;
  if (host !== '0.0.0.0' && host !== '::') return [];
  return allowedHosts.map((name) => `http://${name}:${new URL(url).port}`);
}

/** Only with a sandbox, and only in a profile that has the mutation. */
function demonstrationsOf({ host, packs, sandboxes }: OpenedHost, { get }: PackCatalog) {
  const found = packs.flatMap((name) => {
    const { demonstration } = get(name);
    const control = sandboxes?.byPack.get(name)?.addresses['control'];
    if (!demonstration || control === undefined) return [];
    const isRegistered = host.tools.some((tool) => tool.name === demonstration.call.name);
    return isRegistered ? [[name, { ...demonstration, control }] as const] : [];
  });
  return new Map(found);
}

function curlFor(mcp: string, params: object, authorization: string | undefined): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return [
    `curl -sS -w '\\n' ${shellWord(mcp)} -H 'Content-Type: application/json'`,
    ...(authorization === undefined ? [] : [`-H "Authorization: ${authorization}"`]),
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
