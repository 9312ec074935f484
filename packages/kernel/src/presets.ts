import { definePolicy, type ResiliencePolicy } from './decide/policy.js';
import { defaultBreaker } from './layers/breaker.js';
import { defaultBudget } from './layers/budget.js';

const protection = { budget: defaultBudget, breaker: defaultBreaker } as const;

/** Social APIs: their windows are long, so a limit is the caller's to wait for. */
const social = definePolicy({
  maxRetries: 2,
  initialBackoffMs: 500,
  maxBackoffMs: 5_000,
  backoffMultiplier: 2,
  jitter: 'full',
  rateLimit: { onLimit: 'surface' },
  attemptTimeoutMs: 10_000,
  callTimeoutMs: 15_000,
  ...protection,
});

/** Catalogue searches: many, read-only, and somebody is waiting. */
const stac = definePolicy({
  maxRetries: 2,
  initialBackoffMs: 400,
  maxBackoffMs: 1_600,
  backoffMultiplier: 2,
  jitter: 'full',
  medianScale: 0.25,
  rateLimit: { onLimit: 'wait', maxWaitMs: 5_000, withoutHint: 'backoff' },
  attemptTimeoutMs: 6_000,
  callTimeoutMs: 15_000,
  ...protection,
});

/** GitHub: limits name the second at which they end. */
const github = definePolicy({
  maxRetries: 3,
  initialBackoffMs: 1_000,
  maxBackoffMs: 60_000,
  backoffMultiplier: 2,
  jitter: 'none',
  rateLimit: { onLimit: 'wait', maxWaitMs: 60_000, withoutHint: 'backoff' },
  attemptTimeoutMs: 20_000,
  callTimeoutMs: 55_000,
  ...protection,
});

/** Language models: slow, and overloaded for longer than a moment. */
const llm = definePolicy({
  maxRetries: 2,
  minBackoffMs: 2_000,
  initialBackoffMs: 4_000,
  maxBackoffMs: 30_000,
  backoffMultiplier: 2,
  jitter: 'full',
  rateLimit: { onLimit: 'wait', maxWaitMs: 300_000, withoutHint: 'backoff' },
  callTimeoutMs: 300_000,
  ...protection,
});

/** Somebody else's MCP server, of which we know nothing. */
const guard = definePolicy({
  maxRetries: 2,
  initialBackoffMs: 200,
  maxBackoffMs: 5_000,
  backoffMultiplier: 2,
  jitter: 'full',
  rateLimit: { onLimit: 'wait', maxWaitMs: 300_000, withoutHint: 'surface' },
  idleTimeoutMs: 60_000,
  callTimeoutMs: 300_000,
  ...protection,
});

/** The policies of the five kinds of upstream that the packs talk to. */
export const presets = Object.freeze({ social, stac, github, llm, guard }) satisfies Readonly<
  Record<string, ResiliencePolicy>
>;

/** The two ways of waiting for a model: Claude's answer comes whole, Gemini's in pieces. */
export const llmAdapters = Object.freeze({
  claude: definePolicy({ ...llm, attemptTimeoutMs: 120_000 }),
  gemini: definePolicy({ ...llm, idleTimeoutMs: 90_000 }),
});
