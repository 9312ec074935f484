import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { envelopeSchema } from '@toolkeel/contract';
import { newFolder, startHttpChaos, type Chaos } from './chaos.js';
import type { CallResult, Frame, Revision } from './frames.js';
import { rawStdio, type RawClient } from './raw-client.js';

const launcher = fileURLToPath(new URL('launch.mjs', import.meta.url));

export interface GuardOptions {
  readonly chaos: Chaos;
  readonly flags?: readonly string[];
  readonly revision: Revision;
  readonly face: 'stdio' | 'HTTP';
  readonly upstream: 'stdio' | 'HTTP';
  /** Settings of the upstream. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of the journal. */
  readonly dataDir?: string;
}

export interface Guarded extends RawClient {
  readonly url?: string;
}

/** Starts the guard in front of a chaos server, and connects to it. */
export const openGuard = async (options: GuardOptions): Promise<Guarded> => {
  const { chaos, flags = [], revision, env = {}, settings = {}, dataDir = newFolder() } = options;
  const [file, ...args] = chaos.command(...flags);
  const upstream = { command: file, args, ...settings };
  return rawStdio(
    {
      command: [process.execPath, launcher, JSON.stringify({ upstream, config: {} })],
      env: { PATH: process.env['PATH'] ?? '', TOOLKEEL_DATA_DIR: dataDir, ...env },
      cwd: chaos.dir,
    },
    revision,
  );
};

export interface GuardError {
  readonly code: string;
  readonly message: string;
  readonly outcome?: string;
  readonly retryable: boolean;
}

/** The error of an envelope that the guard produced; throws unless the envelope is valid and complete. */
export const guardErrorIn = ({ result }: Frame): GuardError => {
  const { structuredContent, content, isError } = result ?? ({} as CallResult);
  const envelope = envelopeSchema.parse(structuredContent) as { error?: GuardError };
  if (isError !== true || envelope.error === undefined) throw new Error('is no failure');
  if (content?.[0]?.text !== JSON.stringify(structuredContent))
    throw new Error('the text differs from the structured content');
  return envelope.error;
};

export const textIn = ({ result }: Frame): string | undefined => result?.content?.[0]?.text;
