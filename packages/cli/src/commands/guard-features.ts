import { upstreamSchema, type UpstreamConfig } from '@toolkeel/guard';
import { UsageError } from '../errors.js';

/** Flags of `guard` that replace settings of an upstream. */
export interface FeatureFlags {
  /** `0.2` or `20%` */
  readonly chaos?: string;
  readonly chaosSeed?: string;
  readonly chaosAll?: boolean;
  readonly envelope?: boolean;
}

/** The settings of an upstream with those of the command line. */
export function withFeatures(config: UpstreamConfig, flags: FeatureFlags): UpstreamConfig {
  const chaos = chaosOf(config, flags);
  return { ...config, ...(chaos && { chaos }), ...(flags.envelope && { envelope: true }) };
}

function chaosOf(
  { chaos: configured }: UpstreamConfig,
  { chaos, chaosSeed, chaosAll }: FeatureFlags,
): UpstreamConfig['chaos'] {
  if (chaos === undefined && !configured) {
    if (chaosSeed === undefined && !chaosAll) return undefined;
    throw new UsageError('--chaos-seed and --chaos-all need --chaos RATE.');
  }
  const given = {
    ...configured,
    ...(chaos !== undefined && { rate: rateOf(chaos) }),
    ...(chaosSeed !== undefined && { seed: Number(chaosSeed) }),
    ...(chaosAll && { all: true }),
  };
  const parsed = upstreamSchema.safeParse({ command: 'unused', chaos: given });
  if (parsed.success) return parsed.data.chaos;
  const [issue] = parsed.error.issues;
  const flag = issue?.path[1] === 'seed' ? '--chaos-seed' : '--chaos';
  const values = flag === '--chaos' ? 'a number from 0 to 1, or a percentage' : 'an integer';
  throw new UsageError(`${flag} must be ${values}.`);
}

function rateOf(text: string): number {
  const number = text.replace(/%$/, '').trim();
  if (number === '') return Number.NaN;
  return text.endsWith('%') ? Number(number) / 100 : Number(number);
}
