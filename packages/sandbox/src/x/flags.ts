import { faultFromText, latencyFromText, UsageError } from '../faults/rules.js';
import { drawByFrom, wholeNumber, type Flag } from '../flags.js';
import type { Tier } from './api/call.js';
import type { XSandboxOptions } from './sandbox.js';

export const xFlags: readonly Flag[] = [
  {
    flag: '--port <number>',
    description: 'port of the API on 127.0.0.1 (default: any)',
    isExclusive: true,
  },
  {
    flag: '--control-port <number>',
    description: 'port of the control endpoint',
    isExclusive: true,
  },
  { flag: '--seed <number>', description: 'decides users, posts and all faults (default: 1)' },
  { flag: '--tier <name>', description: 'self_serve or enterprise (default: self_serve)' },
  { flag: '--client-id <id>', description: 'the app that tokens are for' },
  { flag: '--client-secret <secret>', description: 'its secret, if it is to have one' },
  { flag: '--credits <dollars>', description: 'what there is to spend (default: no end of it)' },
  { flag: '--lag <ms>', description: 'how far reads lag behind writes (default: 0)' },
  { flag: '--fault <rule...>', description: 'such as 20%:acted-http-503@create-post' },
  { flag: '--latency <shape...>', description: 'such as 200, p95=200,sigma=0.5 or search:p95=400' },
  { flag: '--draw-by <what>', description: 'arrival or request: what luck depends on' },
];

export interface XFlagValues {
  readonly port?: string;
  readonly controlPort?: string;
  readonly seed?: string;
  readonly tier?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly credits?: string;
  readonly lag?: string;
  readonly fault?: readonly string[];
  readonly latency?: readonly string[];
  readonly drawBy?: string;
}

const DAY = 24 * 60 * 60_000;

/** Options from what a command line said. Throws a {@link UsageError} that names what is wrong. */
export function xOptionsFromFlags(values: XFlagValues): XSandboxOptions {
  const { tier, clientId, clientSecret, credits, drawBy, fault, latency } = values;
  const { lag } = wholeNumber(values, 'lag', 0, DAY);
  return {
    ...wholeNumber(values, 'port', 0, 65_535),
    ...wholeNumber(values, 'controlPort', 0, 65_535),
    ...wholeNumber(values, 'seed', 0, Number.MAX_SAFE_INTEGER),
    ...(tier !== undefined && { tier: tierFrom(tier) }),
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    ...(credits !== undefined && { credits: creditsFrom(credits) }),
    ...(lag !== undefined && { lagMs: lag }),
    ...(drawBy !== undefined && { drawBy: drawByFrom(drawBy) }),
    ...(fault && { faults: fault.map(faultFromText) }),
    ...(latency && { latency: latencyFromText(latency) }),
  };
}

function tierFrom(text: string): Tier {
  if (text === 'self_serve' || text === 'enterprise') return text;
  throw new UsageError(`tier "${text}" is neither self_serve nor enterprise`);
}

function creditsFrom(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  throw new UsageError(`credits "${text}" is not an amount of dollars`);
}
