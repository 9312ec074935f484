import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentFaultsOf } from '../faults/kinds.js';
import type { JsonObject } from '../json.js';
import { openSandbox, type CommonOptions, type Sandbox } from '../server/sandbox.js';
import { createRouter, type Route, type Upstream } from '../server/upstream.js';
import { Conversation } from './answers.js';
import { anthropicError, anthropicRoutes } from './anthropic.js';
import { geminiRoutes, googleError } from './gemini.js';
import { stubCliSource } from './stub-cli.js';

export interface LlmSandboxOptions extends CommonOptions {
  /** Milliseconds between two events of a stream. Default: 0. */
  readonly tokenDelayMs?: number;
}

export interface LlmSandbox extends Sandbox {
  /** The base URL of Gemini and of the Messages endpoint. */
  readonly url: string;
  readonly apiKey: string;
  readonly models: readonly string[];
  /** A program that stands in for the Claude CLI. */
  readonly cliPath: string;
  /** The bodies of the requests for completions, oldest first. */
  readonly asked: () => readonly JsonObject[];
  /** The texts of the next answers, instead of the sandbox's own. */
  readonly answerWith: (texts: readonly string[]) => void;
}

const models = ['gemini-2.5-flash', 'gemini-2.5-pro'];
const API_KEY = 'sandbox-gemini-key';

const CLI_ROUTE = 'cli';
const cliFaults = contentFaultsOf('cli');
const contentFaults = [...contentFaultsOf('llm'), ...cliFaults];

/** Starts Gemini's API and Anthropic's Messages endpoint on loopback, and writes a stand-in for the Claude CLI. */
export async function startLlmSandbox(options: LlmSandboxOptions = {}): Promise<LlmSandbox> {
  const { seed = 1, tokenDelayMs = 0 } = options;
  const pauseMs = (): number => tokenDelayMs;
  const conversation = new Conversation();
  const folder = mkdtempSync(join(tmpdir(), 'toolkeel-llm-'));
  const cliPath = join(folder, 'claude.mjs');
  writeFileSync(cliPath, stubCliSource());
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const ports = { api: options.port ?? 0 };
    const { origins, ...sandbox } = await openSandbox({ ...options, seed, ports }, () =>
      llmUpstream([
        ...geminiRoutes({ apiKey: API_KEY, models, pauseMs, conversation }),
        ...anthropicRoutes({ pauseMs, conversation }),
        {
          name: CLI_ROUTE,
          method: 'GET',
          path: '/__cli',
          handle: ({ env, json }) =>
            json({ fault: cliFaults.find((kind) => env.inject(kind)) ?? null }),
        },
      ]),
    );
    const url = origins['api'] ?? '';
    const close = async (): Promise<void> => {
      await sandbox.close();
      removeFolder();
    };
    const { asked, answerWith } = conversation;
    return { ...sandbox, url, apiKey: API_KEY, models, cliPath, asked, answerWith, close };
  } catch (cause) {
    removeFolder();
    throw cause;
  }
}

function llmUpstream(routes: readonly Route[]): Upstream {
  const { app, names, routeOf } = createRouter(routes);
  app.notFound(({ json }) => json(googleError(404, 'Not found'), 404));
  return {
    routes: names,
    contentFaults,
    routeOf,
    // The stand-in of the CLI asks on its own route how to misbehave, before it asks the API.
    canHave: (kind, route) => cliFaults.some((name) => name === kind) === (route === CLI_ROUTE),
    handle: (request, exchange) => app.fetch(request, exchange),
    // Both providers' clients read `error`; the types differ, and neither minds the other's fields.
    outageBody: (status) => ({
      type: 'application/json',
      text: JSON.stringify({ ...anthropicError(status, 'Sandbox fault'), ...mergedError(status) }),
    }),
  };
}

function mergedError(status: number) {
  const google = googleError(status, 'Sandbox fault')['error'];
  const anthropic = anthropicError(status, 'Sandbox fault')['error'];
  return { error: { ...(anthropic as object), ...(google as object) } };
}
