import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  startStacSandbox,
  startXSandbox,
  type StacSandbox,
  type XSandbox,
} from '@toolkeel/sandbox';
import { inRoot } from '../../../../scripts/lib/paths.mjs';
import type { CreateLinkResponse } from '../../src/api/types.js';

const bin = inRoot('packages', 'cli', 'dist', 'bin.js');

interface Envelope {
  readonly success: boolean;
  readonly data: unknown;
  readonly error?: {
    readonly code: string;
    readonly operation_id?: string;
    readonly details?: { readonly reason?: string };
  };
}

/** An installation: upstreams, `toolkeel up` with the console, and an agent whose server runs on stdio. */
export interface Installation {
  readonly x: XSandbox;
  readonly stac: StacSandbox;
  readonly url: string;
  /** A link that signs in as a person. */
  readonly link: (name: string) => Promise<string>;
  /** Calls a tool of the server on stdio. */
  readonly call: (name: string, args: Record<string, unknown>) => Promise<Envelope>;
  /** Kills the server of the console without a chance to say goodbye. */
  readonly kill: () => Promise<void>;
  /** Starts it again at the same address. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Posts that contain `approval` wait for a person; everything else is allowed. */
const POLICY = {
  profile: 'workflow',
  mode: 'autopilot',
  template: 'open',
  rules: [
    {
      name: 'ask',
      when: { tool: 'x_post_tweet', 'args.text': { contains: 'approval' } },
      action: 'require_approval',
    },
  ],
} as const;

/** `rules`: instead of those above. */
export async function startInstallation(
  rules: readonly object[] = POLICY.rules,
): Promise<Installation> {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-console-'));
  const x = await startXSandbox({ tier: 'enterprise', duplicateWindowMs: 0 });
  const stac = await startStacSandbox({ scale: 0.1 });
  const token = join(dir, 'x-token');
  writeFileSync(token, x.credentials.accessToken, { mode: 0o600 });
  const config = {
    ...POLICY,
    rules,
    dataDir: 'data',
    packs: {
      stac: {},
      x: { baseUrl: x.url, tier: x.tier(), accessToken: { file: token } },
    },
  };
  writeFileSync(join(dir, 'toolkeel.config.json'), JSON.stringify(config));
  const env = {
    PATH: process.env['PATH'] ?? '',
    TOOLKEEL_DATA_DIR: join(dir, 'data'),
    TOOLKEEL_STAC_URL: stac.url,
  };

  const up = async (port: string): Promise<{ child: ChildProcess; url: string }> => {
    const child = spawn(process.execPath, [bin, 'up', '--port', port], { cwd: dir, env });
    const text = await outputUntil(child, /Press Ctrl-C to stop/);
    return { child, url: /MCP +(http:\S+)\/mcp/.exec(text)?.[1] ?? '' };
  };
  let { child, url } = await up('0');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'serve'],
    cwd: dir,
    env,
    stderr: 'pipe',
  });
  const agent = new Client({ name: 'agent', version: '1' });
  await agent.connect(transport);

  const kill = async (): Promise<void> => {
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  };
  return {
    x,
    stac,
    url,
    link: async (name) => {
      const secret = readFileSync(join(dir, 'data', 'console.token'), 'utf8').trim();
      const response = await fetch(`${url}/api/session/links`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
      return ((await response.json()) as CreateLinkResponse).link;
    },
    call: async (name, args) => {
      const { structuredContent } = await agent.callTool({ name, arguments: args });
      return structuredContent as Envelope;
    },
    kill,
    restart: async () => {
      ({ child, url } = await up(new URL(url).port));
    },
    close: async () => {
      await agent.close();
      if (child.exitCode === null && child.signalCode === null) await kill();
      await x.close();
      await stac.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What a process prints until it matches. */
function outputUntil(child: ChildProcess, wanted: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let [out, err] = ['', ''];
    child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (wanted.test(out)) resolve(out);
    });
    child.on('close', () =>
      reject(new Error(`ended before it printed ${wanted.source}:\n${out}\n${err}`)),
    );
  });
}
