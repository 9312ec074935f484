import { didYouMean } from '@toolkeel/host';
import { packNames } from './packs.js';
import { UsageError } from './usage-error.js';

/** Those that were named, else those that the configuration speaks of, else all. */
export function choosePacks(
  named: readonly string[],
  configured: readonly string[] = [],
): readonly string[] {
  const unknown = named.find((name) => !packNames.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `There is no pack "${unknown}".${didYouMean(unknown, packNames)} Packs: ${packNames.join(', ')}.`,
    );
  }
  if (named.length > 0) return [...new Set(named)];
  const known = configured.filter((name) => packNames.includes(name));
  return known.length > 0 ? known : packNames;
}
