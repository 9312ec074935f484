import type { LogEntry, StacSandboxOptions } from '@toolkeel/sandbox';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DrillError } from '../cli/command-line.js';
import { connectServer, type ServerOptions } from '../mcp-server.js';
import { type ControlledUpstream, startUpstreams } from '../upstreams.js';
import { type Arguments, coldName, MAIN_NAME, OTHER_NAME, siteName } from './calls.js';
import { SIGMA, type Variant } from './scenarios.js';

interface SettingsOptions {
  readonly mainUrl: string;
  readonly otherUrl: string;
  readonly hedge: boolean;
  /** The number of additional names of the main catalogue, of each kind. */
  readonly sites: number;
}

/** The configuration file of a server. The environment names the main catalogue itself. */
export function settings({ mainUrl, otherUrl, hedge, sites }: SettingsOptions) {
  const named = (name: (n: number) => string, parameter: string) =>
    Object.fromEntries(
      Array.from({ length: sites }, (_, n) => [name(n), { url: `${mainUrl}/?${parameter}=${n}` }]),
    );
  return {
    packs: {
      stac: {
        builtinCatalogs: false,
        hedge,
        catalogs: {
          [OTHER_NAME]: { url: otherUrl },
          ...named(siteName, 'site'),
          ...named(coldName, 'cold'),
        },
      },
    },
  };
}

/** Removes this process's own settings from the environment of the servers it starts. */
export function serverEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(TOOLKEEL|STAC_MCP)_/.test(entry[0]),
  );
  return { ...Object.fromEntries(inherited), ...own };
}

/** The result of a tool call; `thrown` if there was none. */
export type Answer =
  | {
      readonly structuredContent?: unknown;
      readonly content?: unknown;
      readonly isError?: boolean | undefined;
    }
  | { readonly thrown: string };

export interface Timed {
  readonly answer: Answer;
  readonly wallMs: number;
}

type Server = Awaited<ReturnType<typeof startServer>>;

async function startServer(options: ServerOptions) {
  const { client } = await connectServer(options);
  const { tools } = await client.listTools();
  return {
    outputSchemas: new Map(
      tools.flatMap(({ name, outputSchema }) => (outputSchema ? [[name, outputSchema]] : [])),
    ),
    call: (tool: string, given: Arguments) =>
      timed(() => client.callTool({ name: tool, arguments: { ...given } })),
    close: () => client.close(),
  };
}

async function timed(call: () => Promise<Answer>): Promise<Timed> {
  const startedAt = performance.now();
  try {
    const answer = await call();
    return { answer, wallMs: performance.now() - startedAt };
  } catch (cause) {
    const thrown = cause instanceof Error ? cause.message : String(cause);
    return { answer: { thrown }, wallMs: performance.now() - startedAt };
  }
}

type Upstream = ReturnType<typeof upstreamOf>;

/** An upstream and its control API. */
const upstreamOf = ({ url, get, send }: ControlledUpstream) => ({
  url,
  /** Clears the log and restarts the random stream with a seed. */
  restart: (seed: number) => send('POST', '/restart', { seed }),
  /** The requests that arrived, in order; with an id only those after that entry. */
  log: async (after = 0) =>
    (await get<{ readonly entries: readonly LogEntry[] }>(`/log?after=${after}`)).entries,
});

/** A server process with two upstreams of its own, so that variants share no state. */
export interface RunningVariant {
  readonly hedge: boolean;
  readonly server: Server;
  readonly upstreams: readonly [main: Upstream, other: Upstream];
  /** Before a block: reads the catalogues' landing pages again, unless the pack's copies are recent. */
  readonly refresh: () => Promise<void>;
}

export interface RigOptions {
  readonly command: ServerOptions['command'];
  /** For the servers' configuration and data. */
  readonly dir: string;
  readonly seed: number;
  readonly sites: number;
  /** Without it the upstreams answer immediately. */
  readonly p95Ms?: number;
  readonly variants: readonly Pick<Variant, 'name' | 'faults' | 'hedge'>[];
}

export async function startRig(options: RigOptions) {
  const { variants } = options;
  const upstreams = await startUpstreams(
    new URL('./upstream-thread.js', import.meta.url),
    variants.flatMap(({ faults }) => upstreamOptions(faults, options)),
  );
  const all = upstreams.all.map(upstreamOf);
  const started = await Promise.allSettled(
    variants.map(({ name, hedge }, index) => {
      const own = [all[2 * index]!, all[2 * index + 1]!] as const;
      return startVariant({ ...options, dir: join(options.dir, name) }, hedge, own);
    }),
  );
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const close = async (): Promise<void> => {
    await Promise.all(running.map(({ server }) => server.close()));
    await upstreams.close();
  };
  const failed = started.find((one) => one.status === 'rejected');
  if (!failed) return { variants: running, close };
  await close();
  throw failed.reason;
}

function upstreamOptions(
  faults: Variant['faults'],
  { seed, p95Ms }: RigOptions,
): StacSandboxOptions[] {
  const common = {
    faults,
    drawBy: 'request',
    ...(p95Ms !== undefined && { latency: { p95Ms, sigma: SIGMA } }),
  } as const;
  return [
    // Without ETags every document is sent in full.
    { ...common, seed, flavour: 'full', traits: { etags: false } },
    { ...common, seed, flavour: 'pgstac' },
  ];
}

/**
 * The pack drops a landing page after five minutes, or after 64 newer ones, of which a block has 16.
 * A measured call must not be the one that reads it again.
 */
const FRESH_MS = 120_000;
const FRESH_BLOCKS = 3;

async function startVariant(
  { command, dir, sites }: Pick<RigOptions, 'command' | 'dir' | 'sites'>,
  hedge: boolean,
  upstreams: RunningVariant['upstreams'],
): Promise<RunningVariant> {
  const [main, other] = upstreams;
  mkdirSync(dir, { recursive: true });
  const config = join(dir, 'toolkeel.config.json');
  const content = settings({ mainUrl: main.url, otherUrl: other.url, hedge, sites });
  writeFileSync(config, JSON.stringify(content));
  const env = serverEnvironment(process.env, {
    TOOLKEEL_CONFIG: config,
    TOOLKEEL_DATA_DIR: dir,
    TOOLKEEL_STAC_URL: main.url,
  });
  const server = await startServer({ command, env });
  let refreshedAt = -Infinity;
  let blocks = 0;
  const refresh = async (): Promise<void> => {
    const isFresh = performance.now() - refreshedAt < FRESH_MS;
    if (isFresh && blocks++ % FRESH_BLOCKS > 0) return;
    await Promise.all([MAIN_NAME, OTHER_NAME].map((catalog) => readRoot(server, catalog)));
    refreshedAt = performance.now();
  };
  return { hedge, server, upstreams, refresh };
}

const MAX_TRIES = 10;

/** Under faults more than one call may be necessary. */
async function readRoot({ call }: Server, catalog: string): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { answer } = await call('get_root', { catalog });
    if (!('thrown' in answer) && answer.isError !== true) return;
  }
  throw new DrillError(`the server could not read the landing page of ${catalog}`);
}
