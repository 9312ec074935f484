import { definePolicy, type ResiliencePolicy } from './decide/policy.js';
import { defaultBreaker } from './layers/breaker.js';
import { defaultBudget } from './layers/budget.js';

const protection = { budget: defaultBudget, breaker: defaultBreaker } as const;

/** Social APIs: rate-limit windows are long, so limits are returned to the caller. */
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

/** Catalogue searches: many interactive reads. */
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

/** GitHub: rate limits report their reset time. */
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

/** Language models: slow, with longer periods of overload. */
const llm = definePolicy({
  maxRetries: 2,
  minBackoffMs: 2_000,
  initialBackoffMs: 4_000,
  maxBackoffMs: 30_000,
  backoffMultiplier: 2,
  jitter: 'full',
  rateLimit: { onLimit: 'wait', maxWaitMs: 300_000, withoutHint: 'backoff' },
  callTimeoutMs: 300_000,
  budget: defaultBudget,
  // Requests are few and slow, so few of them must suffice as evidence. One request probes.
  breaker: {
    ...defaultBreaker,
    minimumAttempts: 6,
    windowMs: 60_000,
    openMs: 10_000,
    maxOpenMs: 120_000,
    probes: 1,
  },
});

/** A proxied MCP server with unknown behaviour. */
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

/** The policies of the upstreams that the packs call. */
export const presets = Object.freeze({ social, stac, github, llm, guard }) satisfies Readonly<
  Record<string, ResiliencePolicy>
>;

/** The `llm` preset per provider: Claude responds at once, Gemini streams. */
export const llmAdapters = Object.freeze({
  claude: definePolicy({ ...llm, attemptTimeoutMs: 120_000 }),
  gemini: definePolicy({ ...llm, idleTimeoutMs: 90_000 }),
});
