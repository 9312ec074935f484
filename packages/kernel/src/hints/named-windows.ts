import type { Clock } from './clock.js';
import { parseGoDuration } from './durations.js';
import type { FoundHeaders } from './headers.js';
import { parseCount } from './numbers.js';
import { parseRfc3339 } from './rfc3339.js';
import type { Window } from './window.js';

/** How a family of headers tells when its window resets; the wait in milliseconds. */
type ResetReader = (text: string, clock: Clock) => number | undefined;

interface Family {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
  readonly readReset: ResetReader;
  readonly name?: string;
  /** The header that names the window, where there is one. */
  readonly nameHeader?: string;
}

const epochSeconds: ResetReader = (text, clock) => {
  const seconds = parseCount(text);
  return seconds === undefined ? undefined : seconds * 1000 - clock.serverNow();
};

const deltaSeconds: ResetReader = (text) => {
  const seconds = parseCount(text);
  return seconds === undefined ? undefined : seconds * 1000;
};

const timestamp: ResetReader = (text, clock) => {
  const at = parseRfc3339(text);
  return at === undefined ? undefined : at - clock.serverNow();
};

const FAMILIES: readonly Family[] = [
  // GitHub
  { ...suffixed('x-ratelimit', epochSeconds), nameHeader: 'x-ratelimit-resource' },
  // X: the endpoint's window, and two that hold for a day
  suffixed('x-rate-limit', epochSeconds),
  { ...suffixed('x-app-limit-24hour', epochSeconds), name: '24h app' },
  { ...suffixed('x-user-limit-24hour', epochSeconds), name: '24h user' },
  // Drafts of the IETF's fields before -07
  suffixed('ratelimit', deltaSeconds),
  // Anthropic
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((name) => ({
    ...suffixed(`anthropic-ratelimit-${name}`, timestamp),
    name,
  })),
  // OpenAI and those who imitate it; the reset is when the bucket is full again, an upper bound
  ...['requests', 'tokens'].map((name) => ({
    limit: `x-ratelimit-limit-${name}`,
    remaining: `x-ratelimit-remaining-${name}`,
    reset: `x-ratelimit-reset-${name}`,
    readReset: (text: string) => parseGoDuration(text),
    name,
  })),
];

function suffixed(prefix: string, readReset: ResetReader): Family {
  return {
    limit: `${prefix}-limit`,
    remaining: `${prefix}-remaining`,
    reset: `${prefix}-reset`,
    readReset,
  };
}

export const NAMED_WINDOW_HEADERS: readonly string[] = FAMILIES.flatMap((family) => [
  family.limit,
  family.remaining,
  family.reset,
  ...(family.nameHeader === undefined ? [] : [family.nameHeader]),
]);

/** Every limit/remaining/reset triple whose reset can be read. */
export function namedWindows(headers: FoundHeaders, clock: Clock): Window[] {
  const windows: Window[] = [];
  for (const family of FAMILIES) {
    const reset = headers.get(family.reset);
    const waitMs = reset === undefined ? undefined : family.readReset(reset, clock);
    if (waitMs === undefined) continue;
    const count = headers.get(family.remaining);
    const remaining = parseCount(count);
    // No count may still be a window; a count that makes no sense spoils it.
    if (count !== undefined && remaining === undefined) continue;
    windows.push({
      waitMs,
      remaining,
      limit: parseCount(headers.get(family.limit)),
      name: family.name ?? (family.nameHeader && headers.get(family.nameHeader)),
    });
  }
  return windows;
}
