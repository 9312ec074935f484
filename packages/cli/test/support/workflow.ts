import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openServer, type OpenedServer } from '@toolkeel/host';
import {
  startLlmSandbox,
  startXSandbox,
  type LlmSandbox,
  type XSandbox,
  type XSandboxOptions,
} from '@toolkeel/sandbox';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { llm as llmPack } from '../../src/packs/llm.js';
import { x as xPack } from '../../src/packs/x.js';
import { overHttp, type Connected } from './client.js';

export interface StageOptions {
  readonly sandbox?: XSandboxOptions;
  /** Members of the configuration file beside the packs. Default: autopilot without rules. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** `packs.x`, beside the address. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Without a language model there is neither a pack nor a key for one. */
  readonly withoutModel?: boolean;
}

/** A server over HTTP with the sandboxes of X and of a language model, as an operator configures it. */
export interface Stage extends Connected {
  readonly x: XSandbox;
  readonly llm: LlmSandbox;
  readonly server: OpenedServer;
  readonly folder: string;
  /** Another server of the same installation. */
  readonly another: (options?: StageOptions) => Promise<Connected>;
  /** Posts as another account of the sandbox and returns the id. */
  readonly postAs: (userId: string, text: string) => Promise<string>;
}

const autopilot = { profile: 'workflow', mode: 'autopilot', template: 'open' } as const;

/** Stages that are closed after each test. */
export function useWorkflow(): (options?: StageOptions) => Promise<Stage> {
  const opened: Closer[] = [];
  afterEach(() => closeAll(opened));
  return (options) => openStage(opened, options);
}

/** One stage for all tests of a file, which costs less. */
export function useSharedWorkflow(options: StageOptions): () => Stage {
  const opened: Closer[] = [];
  let stage: Stage | undefined;
  beforeAll(async () => {
    stage = await openStage(opened, options);
  });
  afterAll(() => closeAll(opened));
  return () => stage!;
}

type Closer = () => Promise<void>;

async function closeAll(opened: Closer[]): Promise<void> {
  for (const close of opened.splice(0).toReversed()) await close();
}

async function openStage(opened: Closer[], options: StageOptions = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'toolkeel-workflow-'));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  const x = await startXSandbox({ tier: 'enterprise', duplicateWindowMs: 0, ...options.sandbox });
  opened.push(() => x.close());
  const llm = await startLlmSandbox();
  opened.push(() => llm.close());

  const secretFile = async (name: string, value: string): Promise<{ readonly file: string }> => {
    const file = join(folder, name);
    await writeFile(file, value, { mode: 0o600 });
    return { file };
  };
  const accessToken = await secretFile('x-token', x.credentials.accessToken);
  const apiKey = await secretFile('gemini-key', llm.apiKey);

  const open = async ({ config = autopilot, settings = {}, withoutModel }: StageOptions) => {
    const packs = {
      x: {
        baseUrl: x.url,
        tier: x.tier(),
        accessToken,
        mediaDirectories: [folder],
        ...settings,
      },
      ...(!withoutModel && {
        llm: { providers: ['gemini'], maxRetries: 0, gemini: { baseUrl: llm.url, apiKey } },
      }),
    };
    await writeFile(join(folder, 'toolkeel.config.json'), JSON.stringify({ packs, ...config }));
    const bindings = await Promise.all(
      (withoutModel ? [xPack] : [xPack, llmPack]).map((pack) => pack.load()),
    );
    const server = await openServer({
      cwd: folder,
      env: { TOOLKEEL_DATA_DIR: join(folder, 'data') },
      packs: bindings,
      flags: { http: { port: 0 }, log: { level: 'silent' } },
    });
    const listening = await server.listen();
    opened.push(listening.close);
    const client = await overHttp(`${listening.url}/mcp`);
    opened.push(client.close);
    return { client, server };
  };

  const { client, server } = await open(options);
  return {
    ...client,
    x,
    llm,
    server,
    folder,
    another: async (changed = {}) => (await open({ ...options, ...changed })).client,
    postAs: async (userId, text) => {
      const { accessToken } = x.issueTokens({ userId });
      const answer = await fetch(`${x.url}/2/tweets`, {
        method: 'POST',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ text }),
      });
      const { data } = (await answer.json()) as { readonly data: { readonly id: string } };
      return data.id;
    },
  };
}
