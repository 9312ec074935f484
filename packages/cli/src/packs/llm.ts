import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuiltinPack, SandboxUpstream, Settings } from './pack.js';

export const llm: BuiltinPack = {
  load: async () => {
    const { llm: pack, configFromEnvironment } = await import('@toolkeel/llm/pack');
    return { pack, fromEnvironment: configFromEnvironment, preset: 'llm' };
  },
  firstCall: { name: 'llm_health', arguments: {} },
  sandbox: {
    flags: async () => (await import('@toolkeel/sandbox')).llmFlags,
    start: startLlmUpstream,
  },
  setup: {
    isReady: false,
    question: 'Which Gemini API? Leave empty for Google itself.',
    placeholder: 'https://generativelanguage.googleapis.com',
    settings: (baseUrl) => ({ gemini: { baseUrl } }),
  },
};

/** The LLM sandbox. Its key is in a file, like a real one, so that no settings contain it. */
async function startLlmUpstream(flags: Settings): Promise<SandboxUpstream> {
  const { startLlmSandbox, llmOptionsFromFlags } = await import('@toolkeel/sandbox');
  const { url, apiKey, cliPath, control, close } = await startLlmSandbox(
    llmOptionsFromFlags(flags),
  );
  const folder = mkdtempSync(join(tmpdir(), 'toolkeel-llm-key-'));
  const file = join(folder, 'gemini-key');
  writeFileSync(file, apiKey, { mode: 0o600 });
  return {
    settings: {
      providers: ['gemini', 'claude'],
      gemini: { baseUrl: url, apiKey: { file } },
      claude: { baseUrl: url, cliPath },
    },
    addresses: { api: url, control: control.url },
    environment: {
      TOOLKEEL_GEMINI_BASE_URL: url,
      TOOLKEEL_GEMINI_API_KEY: apiKey,
      TOOLKEEL_CLAUDE_PATH: cliPath,
      TOOLKEEL_CLAUDE_BASE_URL: url,
    },
    close: async () => {
      rmSync(folder, { recursive: true, force: true });
      await close();
    },
  };
}
