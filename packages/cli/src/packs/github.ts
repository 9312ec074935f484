import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuiltinPack, Finding, SandboxUpstream, Settings } from './pack.js';

export const github: BuiltinPack = {
  load: async () => {
    const { github: pack, configFromEnvironment } = await import('@toolkeel/github/pack');
    return { pack, fromEnvironment: configFromEnvironment, preset: 'github' };
  },
  firstCall: { name: 'github_get_context', arguments: {} },
  sandbox: {
    flags: async () => (await import('@toolkeel/sandbox')).githubFlags,
    start: startGithubSandboxUpstream,
  },
  setup: {
    isReady: false,
    question: 'Which GitHub API? Leave empty for github.com.',
    placeholder: 'https://github.example.com/api/v3',
    settings: (baseUrl) => ({ baseUrl }),
  },
  check: async (settings) => {
    const { checkPermissions } = await import('@toolkeel/github/pack');
    return permissionFindings(await checkPermissions(settings).catch(() => undefined));
  },
};

interface Report {
  readonly source: string;
  readonly refused: readonly { readonly tool: string; readonly needs: string }[];
}

/** An unreachable upstream is reported by its health, not here. */
function permissionFindings(report: Report | undefined): readonly Finding[] {
  if (!report) return [];
  const what = 'github: permissions';
  if (report.source === 'unknown') {
    const detail = 'a fine-grained token does not list them; a refused call names the missing one';
    return [{ status: 'ok', what, detail }];
  }
  if (report.refused.length === 0)
    return [{ status: 'ok', what, detail: 'the credential allows every tool' }];
  const listed = report.refused.map(({ tool, needs }) => `${tool} (${needs})`);
  return [
    {
      status: 'warn',
      what,
      detail: `the credential does not allow ${listed.join(', ')}`,
      advice: 'Grant what is missing, or leave these tools out with packs.github.tools.exclude.',
    },
  ];
}

/** The GitHub sandbox. Its token is in a file, like a real one, so that no settings contain it. */
async function startGithubSandboxUpstream(flags: Settings): Promise<SandboxUpstream> {
  const { startGithubSandbox, githubOptionsFromFlags } = await import('@toolkeel/sandbox');
  const sandbox = await startGithubSandbox(githubOptionsFromFlags(flags));
  const { url, logsUrl, control, token } = sandbox;
  const folder = mkdtempSync(join(tmpdir(), 'toolkeel-github-'));
  chmodSync(folder, 0o700);
  const file = join(folder, 'token');
  writeFileSync(file, token, { mode: 0o600 });
  return {
    settings: {
      baseUrl: url,
      account: 'sandbox',
      token: { file },
      trustedOrigins: [logsUrl],
      toolsets: ['core', 'write', 'actions'],
    },
    addresses: { api: url, logs: logsUrl, control: control.url },
    environment: { TOOLKEEL_GITHUB_BASE_URL: url, TOOLKEEL_GITHUB_TOKEN: token },
    close: async () => {
      rmSync(folder, { recursive: true, force: true });
      await sandbox.close();
    },
  };
}
