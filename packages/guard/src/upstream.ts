import { hash } from 'node:crypto';
import {
  environmentSecrets,
  isPersistent,
  isSecretParameter,
  secretInUrl,
  type HostLog,
  type LoadedConfig,
} from '@toolkeel/host';
import type { UpstreamState } from '@toolkeel/contract';
import type { CallEngine } from '@toolkeel/host/parts';
import type { ResiliencePolicy } from '@toolkeel/kernel';
import { definePolicy, presets } from '@toolkeel/kernel/policy';
import { readSecret } from '@toolkeel/pack-kit/base';
import { bridged, type SpokenRevision } from './bridge.js';
import { GuardedCalls, type GuardedCallsOptions } from './calls.js';
import { createChaos } from './chaos.js';
import { childLink, type ChildOptions } from './child-link.js';
import { childRegistry } from './children.js';
import { CLIENT_MEMBERS, type UpstreamConfig } from './config.js';
import { cutsResults, listingView, unknownNames, unusedPatterns } from './diet.js';
import type { ListedTool } from './effects.js';
import { readEnvFile } from './env-file.js';
import { httpLink, type HttpLinkOptions } from './http-link.js';
import { KeptResults } from './kept-results.js';
import type { Connect } from './link.js';
import { Pins } from './pins.js';
import { prefixConfig, prefixErrors, withPrefix } from './prefix.js';
import { Profiles } from './profiles.js';
import { observeServer, type ServerInfo } from './server-info.js';
import type { Client } from './session-options.js';
import { Session } from './session.js';
import type { GuardedTool } from './tools.js';
import { createView } from './view.js';

interface UpstreamOptions {
  readonly loaded: LoadedConfig;
  /** In logs, metrics and as the account of its mutations. */
  readonly name: string;
  readonly formerNames: readonly string[];
  readonly config: UpstreamConfig;
  /** Added to the names of its tools and prompts. */
  readonly prefix: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: HostLog;
  /** For what an operator must not miss. */
  readonly loudLog: HostLog;
  readonly isInspection: boolean;
  readonly engine: () => CallEngine;
  readonly admitRead: GuardedCallsOptions['admitRead'];
  /** All tools are known, or have changed. Resolves when the rules apply to them. */
  readonly onTools: () => Promise<void>;
  /** Connects to the upstream. Default: as configured. */
  readonly connect?: Connect | undefined;
}

/** A server behind the guard, with the sessions of all clients. */
export interface GuardedUpstream {
  readonly name: string;
  /** The account that its mutations are recorded under, and those of its former names. */
  readonly account: string;
  readonly formerAccounts: readonly string[];
  readonly prefix: string;
  readonly startWaitMs: number;
  readonly startTimeoutMs: number;
  readonly isBridged: boolean;
  readonly spoken: SpokenRevision;
  readonly policy: ResiliencePolicy;
  readonly calls: GuardedCalls;
  readonly state: () => UpstreamState;
  readonly open: (client: Client) => Session;
  readonly sessions: ReadonlySet<Session>;
  /** Whether all of its tools are known. */
  readonly isListed: () => boolean;
  /** After its sessions have ended. */
  readonly end: () => void;
}

export function openUpstream(options: UpstreamOptions): GuardedUpstream {
  const { loaded, name, config, prefix, env, log, engine, onTools } = options;
  const { secrets } = loaded;
  const childEnv = childEnvironment(config, env, readEnvFile(name, config, loaded));
  logClientSettings(log, name, config);
  environmentSecrets(childEnv, secrets);
  watchConnection(config, childEnv, secrets.watch.bind(secrets));
  const policy = policyOf(options);
  const startTimeoutMs = config.startTimeoutSecs * 1000;
  const sessions = new Set<Session>();
  let isListed = false;
  const shown = prefixConfig(config, prefix);
  const profiles = new Profiles({ upstream: name, config: shown, log });
  const account = accountOf(name, config, childEnv);
  const pins = openPins(options, () => calls.refresh());
  const calls: GuardedCalls = new GuardedCalls({
    name,
    account,
    config: shown,
    keys: loaded.config.journal.keys,
    configFor: (listed) =>
      profiles.forTool(listed, listed.name.slice(prefix.length), pins?.profile),
    policy,
    log,
    scrub: secrets.scrub,
    engine,
    admitRead: options.admitRead,
    onTools: async (tools) => {
      isListed = true;
      logEffects(log, name, tools);
      logUnused(log, name, shown, prefix, tools);
      await onTools();
    },
    anyExchange: () => [...sessions][0]?.ownExchange(),
    pins,
  });
  const direct =
    options.connect ??
    connectTo(config, {
      name,
      env: childEnv,
      log,
      scrub: secrets.scrub,
      register: childRegistry(loaded.dataDir, log),
      schemaOf: (tool) => calls.get(prefix + tool)?.listed.inputSchema,
    });
  const link = bridged(direct, { name, log, mode: config.bridge });
  const onServer = (server: ServerInfo): void => {
    const isChanged = profiles.identify(server);
    pins?.identify(profiles.key);
    if (isChanged) {
      const known = profiles.profile?.errors.map(({ rule }) => rule) ?? [];
      // After those of the operator, which take precedence.
      shown.errors.splice(config.errors.length, Infinity, ...prefixErrors(known, prefix));
      calls.refresh();
    }
    if (!server.hasTools) isListed = true;
  };
  const chaos =
    config.chaos &&
    createChaos({
      name,
      settings: config.chaos,
      isRead: (tool, args) => calls.get(prefix + tool)?.decision.of(args) === 'read',
      log: options.loudLog,
    });
  const diet = listingView(shown);
  const listed = pins?.blocks
    ? (tools: readonly ListedTool[]) => {
        const accepted = pins.shown(tools);
        return diet ? diet(accepted) : accepted;
      }
    : diet;
  const kept = cutsResults(shown) ? new KeptResults() : undefined;
  const open = (client: Client): Session => {
    const view = listed || kept ? createView({ listed, kept }) : undefined;
    const ends = chaos ? chaos.between(link, client) : { connect: link, client };
    const session = new Session({
      name,
      connect: observeServer(withPrefix(ends.connect, prefix), onServer),
      client: ends.client,
      calls,
      log,
      startTimeoutMs,
      requestTimeoutMs: policy.callTimeoutMs ?? 300_000,
      view,
      healthCheckMs: config.healthCheckSecs * 1000,
    });
    sessions.add(session);
    void session.closed.then(() => {
      view?.close();
      sessions.delete(session);
    });
    return session;
  };
  return {
    name,
    account,
    formerAccounts: options.formerNames
      .map((former) => accountOf(former, config, childEnv))
      .filter((former) => former !== account),
    prefix,
    startWaitMs: config.startWaitSecs * 1000,
    startTimeoutMs,
    isBridged: config.bridge === 'all',
    spoken: {},
    policy,
    calls,
    state: () => {
      const { circuit, retryTokens, retryCapacity, probeAt } = calls.upstream;
      const isUp = sessions.size === 0 ? undefined : [...sessions].every((one) => one.isUp);
      const limits = (wallNow: number) => calls.upstream.limits(wallNow);
      return { name, circuit, retryTokens, retryCapacity, probeAt, limits, isUp };
    },
    open,
    sessions,
    isListed: () => isListed,
    end: () => chaos?.close(),
  };
}

/** A time limit that is valid alone may not fit another one. */
function policyOf({ loaded, name, config }: UpstreamOptions): ResiliencePolicy {
  const { guard } = loaded.config.policies;
  try {
    return definePolicy({ ...presets.guard, ...guard, ...config.policy });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : 'is not a policy';
    throw loaded.errorFor([{ path: ['upstreams', name, 'policy'], message }]);
  }
}

function openPins(
  { loaded, name, formerNames, config, isInspection, log }: UpstreamOptions,
  onAccepted: () => void,
): Pins | undefined {
  if (config.pin === 'off') return undefined;
  // Who keeps no journal wants no other files either.
  const dataDir = isPersistent(loaded) || config.pin === 'block' ? loaded.dataDir : undefined;
  const blocks = config.pin === 'block';
  const isReadOnly = isInspection;
  const { scrub } = loaded.secrets;
  return new Pins({
    upstream: name,
    formerNames,
    dataDir,
    blocks,
    isReadOnly,
    scrub,
    log,
    onAccepted,
  });
}

interface ConnectOptions extends Pick<ChildOptions, 'name' | 'env' | 'log' | 'scrub' | 'register'> {
  readonly schemaOf: HttpLinkOptions['schemaOf'];
}

function connectTo(
  { command = '', args, cwd, url, headers }: UpstreamConfig,
  { schemaOf, ...child }: ConnectOptions,
): Connect {
  if (url === undefined) return childLink({ ...child, command, args, cwd });
  const { name, log, scrub, env } = child;
  const read = Object.entries(headers).map(
    ([header, value]) => [header, readSecret(value, `headers.${header}`, env)] as const,
  );
  return httpLink({ name, url, log, scrub, schemaOf, headers: Object.fromEntries(read) });
}

/** Headers and addresses are credentials as often as variables are, also where a client's file has them in plain text. */
function watchConnection(
  { url, headers, args }: UpstreamConfig,
  env: NodeJS.ProcessEnv,
  watch: (value: string) => void,
): void {
  for (const [header, given] of Object.entries(headers)) {
    const value = readSecret(given, `headers.${header}`, env);
    watch(value);
    // `Bearer TOKEN`: servers echo the token without the scheme.
    const [, credential] = /^[A-Za-z][\w-]* +(\S+)$/.exec(value) ?? [];
    if (credential !== undefined) watch(credential);
  }
  for (const value of secretArguments(args)) watch(value);
  for (const value of [url, ...args, ...Object.values(env)]) {
    for (const part of secretInUrl(value ?? '')?.values ?? []) watch(part);
  }
}

/** `--api-key VALUE` and `--token=VALUE`: many servers take credentials so, and repeat them in errors. */
function secretArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((word, index) => {
    const [, own, value] = /^--?([^=]+)=(.+)$/s.exec(word) ?? [];
    if (own !== undefined && value !== undefined) return isSecretParameter(own) ? [value] : [];
    const [, before] = /^--?([^-=][^=]*)$/.exec(args[index - 1] ?? '') ?? [];
    const isValue = before !== undefined && !word.startsWith('-');
    return isValue && isSecretParameter(before) ? [word] : [];
  });
}

/** Two credentials are two accounts: what one has done, the other has not. */
function accountOf(
  name: string,
  { account = name, accountFrom }: UpstreamConfig,
  env: NodeJS.ProcessEnv,
): string {
  const credential = accountFrom === undefined ? undefined : env[accountFrom];
  if (credential === undefined) return account;
  return `${account}:${hash('sha256', credential).slice(0, 12)}`;
}

const OWN_SECRETS: ReadonlySet<string> = new Set([
  'TOOLKEEL_HTTP_TOKEN',
  'TOOLKEEL_HTTP_METRICS_TOKEN',
  'TOOLKEEL_JOURNAL_URL',
]);

/** The environment of a child: that of the guard, its file, and the configured variables. */
function childEnvironment(
  { env: given }: UpstreamConfig,
  env: NodeJS.ProcessEnv,
  fromFile: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  const own = Object.entries(given).map(
    ([name, value]) => [name, readSecret(value, `env.${name}`, env)] as const,
  );
  // Credentials of the guard itself are not for a foreign server.
  const inherited = Object.entries(env).filter(([variable]) => !OWN_SECRETS.has(variable));
  return Object.fromEntries([...inherited, ...Object.entries(fromFile), ...own]);
}

function logClientSettings(log: HostLog, upstream: string, config: UpstreamConfig): void {
  const names = CLIENT_MEMBERS.filter((name) => config[name] !== undefined);
  if (names.length === 0) return;
  const message = `Only clients use these settings of ${upstream}; they are ignored: ${names.join(', ')}.`;
  log('info', 'guard_client_settings', { upstream, names, message });
}

/** Lists what was decided and why: annotations are often wrong, and the operator can correct them. */
function logEffects(log: HostLog, upstream: string, tools: readonly GuardedTool[]): void {
  log('info', 'guard_effects', {
    upstream,
    tools: tools.map(
      ({ listed, decision }) => `${listed.name}: ${decision.effect} (${decision.why})`,
    ),
  });
  const keyless = tools.filter(({ tool }) => tool.effect === 'once' && tool.key === undefined);
  if (keyless.length > 0) {
    log('info', 'once_tools_without_key', { tools: keyless.map(({ listed }) => listed.name) });
  }
}

/** Clients accept longer names rarely. */
const MAX_NAME = 64;

/** Settings that name no tool have no effect, which nobody notices: a tool that should be excluded is listed. */
function logUnused(
  log: HostLog,
  upstream: string,
  config: UpstreamConfig,
  prefix: string,
  tools: readonly GuardedTool[],
): void {
  const names = tools.map(({ listed }) => listed.name);
  const unused = unusedPatterns(config, names).map((pattern) => pattern.slice(prefix.length));
  if (unused.length > 0) {
    const message = `Settings of ${upstream} name tools that it does not have: ${unused.join(', ')}. Use the names of the server, without a prefix.`;
    log('warn', 'guard_setting_unused', { upstream, names: unused, message });
  }
  const unknown = unknownNames(
    config,
    tools.map(({ listed }) => listed),
    prefix,
  );
  if (unknown.length > 0) {
    const message = `Settings of ${upstream} have no effect: ${unknown.join(' ')}`;
    log('warn', 'guard_setting_unused', { upstream, names: unknown, message });
  }
  const long = names.filter((name) => prefix !== '' && name.length > MAX_NAME);
  if (long.length === 0) return;
  const message = `With the prefix "${prefix}" names have more than ${MAX_NAME} characters, which many clients refuse: ${long.join(', ')}. Set a shorter "prefix".`;
  log('warn', 'guard_name_too_long', { upstream, names: long, message });
}
