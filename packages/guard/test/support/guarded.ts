import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { envelopeSchema } from '@toolkeel/contract';
import { newFolder, startHttpChaos, type Chaos } from './chaos.js';
import type { Frame, Revision } from './frames.js';
import { rawHttp, rawStdio, type Program, type RawClient } from './raw-client.js';

/** The built command: `npm test` compiles before it tests. */
const bin = fileURLToPath(new URL('../../../cli/dist/bin.js', import.meta.url));

export interface CommandOptions {
  /** The server: what an entry of `upstreams` may contain. */
  readonly upstream: Readonly<Record<string, unknown>>;
  /** More servers in the same guard, by name. */
  readonly others?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Other members of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of the journal. */
  readonly dataDir?: string;
  readonly flags?: readonly string[];
}

/** `toolkeel guard` in a folder of its own. */
export const guardProgram = (options: CommandOptions): Program => {
  const { upstream, others, config = {}, env = {}, dataDir = newFolder(), flags = [] } = options;
  const cwd = newFolder();
  const file = join(cwd, 'toolkeel.json');
  writeFileSync(file, JSON.stringify({ ...config, upstreams: { chaos: upstream, ...others } }));
  return {
    command: [process.execPath, bin, 'guard', '--config', file, ...flags],
    env: { PATH: process.env['PATH'] ?? '', TOOLKEEL_DATA_DIR: dataDir, ...env },
    cwd,
  };
};

export interface Listening {
  readonly url: string;
  readonly stderr: () => string;
  readonly pid: number | undefined;
  /** Ends the guard with SIGTERM, and waits for it. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
}

/** Starts the guard with an HTTP face. */
export const listenGuard = async (options: CommandOptions): Promise<Listening> => {
  const flags = [...(options.flags ?? []), '--http', '127.0.0.1:0'];
  const {
    command: [file, ...args],
    env,
    cwd,
  } = guardProgram({ ...options, flags });
  const child = spawn(file, args, { env, cwd, stdio: 'pipe' });
  const ended = once(child, 'close');
  let [stdout, stderr] = ['', ''];
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      const [, found] = /MCP at (\S+)/.exec(stdout) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`the guard ended: ${stderr}`)));
  });
  return {
    url,
    stderr: () => stderr,
    pid: child.pid,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await ended;
    },
  };
};

export interface GuardOptions extends Omit<CommandOptions, 'upstream' | 'flags'> {
  readonly chaos: Chaos;
  /** Flags of the chaos server. */
  readonly flags?: readonly string[];
  readonly revision: Revision;
  readonly face: 'stdio' | 'HTTP';
  readonly upstream: 'stdio' | 'HTTP';
  /** Settings of the upstream. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export type Guarded = RawClient;

const chaosUpstream = async ({ chaos, flags = [], upstream, settings }: GuardOptions) => {
  if (upstream === 'HTTP') return { url: (await startHttpChaos(chaos, flags)).url, ...settings };
  const [command, ...args] = chaos.command(...flags);
  return { command, args, ...settings };
};

/** Starts the guard in front of a chaos server, and connects to it. */
export const openGuard = async (options: GuardOptions): Promise<Guarded> => {
  const { revision, face, config, env, dataDir } = options;
  const upstream = await chaosUpstream(options);
  const common = {
    upstream,
    ...(config && { config }),
    ...(env && { env }),
    ...(dataDir !== undefined && { dataDir }),
  };
  if (face === 'stdio') return rawStdio(guardProgram(common), revision);
  const { url, stderr, pid, stop } = await listenGuard(common);
  const client = await rawHttp(url, revision);
  const close = async (): Promise<void> => {
    await client.close();
    await stop();
  };
  return { ...client, stderr, pid, close, kill: stop };
};

export interface GuardError {
  readonly code: string;
  readonly message: string;
  readonly outcome?: string;
  readonly retryable: boolean;
  /** As the guard measured it. */
  readonly elapsedMs: number;
}

/** The error of an envelope that the guard produced; throws unless the envelope is valid and complete. */
export const guardErrorIn = ({ result = {} }: Frame): GuardError => {
  const { structuredContent, content, isError } = result;
  const { success, data } = envelopeSchema.safeParse(structuredContent);
  if (!success) throw new Error(`is no envelope: ${JSON.stringify(result)}`);
  const { error, meta } = data as {
    readonly error?: Omit<GuardError, 'elapsedMs'>;
    readonly meta: { readonly elapsed_ms: number };
  };
  if (isError !== true || error === undefined) throw new Error('is no failure');
  if (content?.[0]?.text !== JSON.stringify(structuredContent))
    throw new Error('the text differs from the structured content');
  return { ...error, elapsedMs: meta.elapsed_ms };
};

export const textIn = ({ result }: Frame): string | undefined => result?.content?.[0]?.text;
