import { characters } from '../text/words.js';
import type { JsonSchema } from '../paths/declared.js';

/** Longer ones, and patterns with more in them, could take for ever to try. */
const MAX_TRIED = 256;
const MAX_PATTERN = 200;
const MAX_REPEATS = 2;

/** False where a schema surely refuses this text. */
export function mayFitText(text: string, shape: JsonSchema): boolean {
  const { minLength, maxLength, pattern } = shape;
  // Some count characters and some count halves of them: both must say so.
  if (typeof maxLength === 'number' && characters(text) > maxLength) return false;
  if (typeof minLength === 'number' && text.length < minLength) return false;
  return typeof pattern !== 'string' || mayMatch(text, pattern);
}

/** Flags do not stand in a schema, though whoever made it may have had some. */
const FLAGS = ['', 'i', 'm', 's', 'im', 'is', 'ms', 'ims'].flatMap((flags) => [flags, `${flags}u`]);

function mayMatch(text: string, pattern: string): boolean {
  if (text.length > MAX_TRIED || !isPlain(pattern)) return true;
  return FLAGS.some((flags) => {
    try {
      return new RegExp(pattern, flags).test(text);
    } catch {
      return true;
    }
  });
}

/** Without groups and with few repeats, so that whoever wrote it cannot make it slow. */
function isPlain(pattern: string): boolean {
  const bare = pattern.replaceAll(/\\./gs, 'x').replaceAll(/\[[^\]]*\]/g, 'x');
  const repeats = bare.match(/[*+?{]/g) ?? [];
  return pattern.length <= MAX_PATTERN && !/[()|]/.test(bare) && repeats.length <= MAX_REPEATS;
}
