import type { TextEvent, TextModelError } from '@toolkeel/contract';
import { claude, gemini, type ClaudeOptions, type GeminiOptions, type Model } from '@toolkeel/llm';
import { startLlmSandbox, type LlmSandbox, type LlmSandboxOptions } from '@toolkeel/sandbox';
import { afterEach, expect } from 'vitest';
import { runningChildren } from '../../src/claude/children.js';

/** Waits of milliseconds instead of seconds; everything else as in production. */
export const quick = { minBackoffMs: 5, initialBackoffMs: 10, maxBackoffMs: 20 } as const;

const opened: { readonly close: () => Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

export async function sandboxOf(options: LlmSandboxOptions = {}): Promise<LlmSandbox> {
  const sandbox = await startLlmSandbox(options);
  opened.push(sandbox);
  return sandbox;
}

/** The real Claude CLI, if `npm run test:claude-cli` names it; else the sandbox's stand-in. */
export const realCli = process.env['TOOLKEEL_TEST_CLAUDE_CLI'];

export function claudeOf(sandbox: LlmSandbox, options: Partial<ClaudeOptions> = {}): Model {
  const cliPath = realCli ?? sandbox.cliPath;
  const model = claude({ baseUrl: sandbox.url, cliPath, policy: quick, ...options });
  opened.push(model);
  return model;
}

export function geminiOf(sandbox: LlmSandbox, options: Partial<GeminiOptions> = {}): Model {
  const apiKey = { env: 'KEY' };
  const env = { KEY: sandbox.apiKey };
  const model = gemini({ baseUrl: sandbox.url, apiKey, env, policy: quick, ...options });
  opened.push(model);
  return model;
}

export const ask = (content = 'Why is the sky blue?') => ({
  messages: [{ role: 'user' as const, content }],
});

export async function eventsOf(stream: AsyncIterable<TextEvent>): Promise<readonly TextEvent[]> {
  const events: TextEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

export async function errorOf(promise: Promise<unknown>): Promise<TextModelError> {
  return promise.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error as TextModelError,
  );
}

/** The requests for completions that arrived at the sandbox. */
export const asked = (sandbox: LlmSandbox): number =>
  sandbox.log().filter(({ route }) => /^(gemini-(stream|generate)|messages)$/.test(route)).length;

/** No process of an attempt survives it for long. */
export async function expectNoChildren(): Promise<void> {
  await expect.poll(runningChildren, { timeout: 15_000 }).toEqual([]);
}
