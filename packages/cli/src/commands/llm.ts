import type { TextEvent } from '@toolkeel/contract';
import { loadConfig } from '@toolkeel/host';
import { INTERRUPTED, UsageError } from '../errors.js';
import { escapeControls } from '../operator/format.js';
import { cliPack, packNames } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';

export interface LlmFlags {
  readonly provider?: string;
  readonly model?: string;
  readonly system?: string;
  readonly recovery?: string;
  readonly fault?: readonly string[];
  readonly json?: boolean;
  readonly sandbox?: boolean;
  readonly config?: string;
}

const RECOVERIES = ['error', 'restart', 'continue'] as const;

/** The sandbox answers at once, so its silence can be noticed early. */
const SANDBOX_TIMEOUTS = {
  connectSecs: 5,
  headersSecs: 3,
  firstContentSecs: 4,
  byteIdleSecs: 3,
  contentIdleSecs: 4,
};
const SANDBOX_TOKEN_DELAY_MS = '60';

/** Asks a model and streams its answer to stdout, and what happens on the way to stderr. */
export async function llm(
  question: string,
  flags: LlmFlags,
  { env, cwd, stdout, stderr }: RuntimeContext,
  stopped: Promise<void>,
): Promise<number> {
  if (question.trim() === '') throw new UsageError('The question is empty.');
  const recovery = RECOVERIES.find((name) => name === (flags.recovery ?? 'restart'));
  if (!recovery) throw new UsageError(`--recovery must be one of ${RECOVERIES.join(', ')}.`);
  if (flags.fault && !flags.sandbox) throw new UsageError('--fault requires --sandbox.');
  const { provider } = flags;
  if (provider !== undefined && provider !== 'claude' && provider !== 'gemini') {
    throw new UsageError('--provider must be claude or gemini.');
  }
  const pack = cliPack('llm');
  const upstream = flags.sandbox
    ? await pack.sandbox.start({ fault: flags.fault, tokenDelay: SANDBOX_TOKEN_DELAY_MS })
    : undefined;
  const leaving = new AbortController();
  void stopped.then(() => leaving.abort());
  try {
    const loaded = loadConfig({
      env,
      cwd,
      ...(flags.config !== undefined && { file: flags.config }),
      packs: [await pack.load()],
      otherPacks: packNames.filter((name) => name !== 'llm'),
      only: ['packs'],
      withoutApproval: true,
      ...(upstream && { packSettings: { llm: withTimeouts(upstream.settings) } }),
    });
    const { configSchema, modelsFrom } = await import('@toolkeel/llm');
    const settings = configSchema.parse(loaded.packEntry('llm').config);
    const models = modelsFrom(
      provider === undefined ? settings : { ...settings, providers: [provider] },
      { env: flags.sandbox ? { PATH: env['PATH'] } : env },
    );
    try {
      if (!models.chain) {
        stderr.write(
          'No language model is configured. Install the Claude CLI and log in, set TOOLKEEL_GEMINI_API_KEY, or try --sandbox.\n',
        );
        return 1;
      }
      const events = models.chain.stream(
        {
          messages: [{ role: 'user', content: question }],
          ...(flags.model !== undefined && { model: flags.model }),
          ...(flags.system !== undefined && { system: flags.system }),
        },
        { recovery, signal: leaving.signal },
      );
      const screen = new Screen(stdout.write, stderr.write);
      for await (const event of events) {
        if (flags.json) stdout.write(`${JSON.stringify(event)}\n`);
        else screen.show(event);
        if (event.type === 'error') return leaving.signal.aborted ? INTERRUPTED : 1;
      }
      return 0;
    } finally {
      await models.close();
    }
  } finally {
    await upstream?.close();
  }
}

type Section = Readonly<Record<string, unknown>>;

function withTimeouts(settings: Section): Section {
  const gemini = settings['gemini'] as Section;
  const claude = settings['claude'] as Section;
  const timeouts = SANDBOX_TIMEOUTS;
  return { ...settings, gemini: { ...gemini, timeouts }, claude: { ...claude, timeouts } };
}

/** The answer on one stream, notices on the other, each on lines of its own. */
class Screen {
  readonly #out: (text: string) => void;
  readonly #err: (text: string) => void;
  readonly #startedAt = performance.now();
  #isMidLine = false;

  constructor(out: (text: string) => void, err: (text: string) => void) {
    this.#out = out;
    this.#err = err;
  }

  show(event: TextEvent): void {
    switch (event.type) {
      case 'content':
        return this.#write(event.text);
      case 'start':
        return this.#notice(`${event.provider} ${event.model}`);
      case 'retry':
        return this.#notice(
          `attempt ${event.attempt} failed: ${event.error.message} ${next(event.afterMs, event.error.retryAfterMs)}`,
        );
      case 'reset':
        return this.#notice('The answer begins again; ignore the text above.');
      case 'tool_call':
        return this.#notice(`calls ${event.name}`);
      case 'done': {
        const { usage, attempts, finish } = event.completion;
        const took = `${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s`;
        const tokens = usage ? [`${usage.inputTokens} + ${usage.outputTokens} tokens`] : [];
        const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
        return this.#notice([`finished: ${finish}`, tries, ...tokens, took].join(', '));
      }
      case 'error':
        return this.#notice(event.error.code === 'cancelled' ? 'cancelled' : event.error.message);
      default:
        return undefined;
    }
  }

  #write(text: string): void {
    if (text === '') return;
    // The model's text reaches a terminal: it must not move the cursor or change colours.
    this.#out(text.split('\n').map(escapeControls).join('\n'));
    this.#isMidLine = !text.endsWith('\n');
  }

  #notice(text: string): void {
    if (this.#isMidLine) this.#out('\n');
    this.#isMidLine = false;
    this.#err(`[${escapeControls(text)}]\n`);
  }
}

function next(afterMs: number, retryAfterMs: number | undefined): string {
  if (afterMs === 0) return 'Asking the next model.';
  // The message of the error ends with the wait that the provider asks for.
  return retryAfterMs === undefined
    ? `Trying again in ${(afterMs / 1000).toFixed(1)} s.`
    : 'Waiting.';
}
