/** So many characters in common are no coincidence. */
const RUN = 12;
/** A text that is shorter than this is found in any sentence, so only as a word of its own. */
const SHORT = 4;
/** Bounds the work; above it a message is not worth the search. */
const MAX_LEAVES = 1000;
const MAX_TEXT = 100_000;

/** Whether a message repeats a value or a good part of it. */
export function quotes(message: string, value: unknown): boolean {
  const texts = textsIn(value);
  if (!texts) return true;
  const words = new Set(message.split(/[^\p{L}\p{N}]+/u));
  return texts.some((text) => {
    if (text.length < SHORT) return text.length > 1 && words.has(text);
    return text.length < RUN ? message.includes(text) : sharesRun(message, text);
  });
}

function sharesRun(message: string, text: string): boolean {
  for (let start = 0; start + RUN <= message.length; start += 1) {
    if (text.includes(message.slice(start, start + RUN))) return true;
  }
  return false;
}

/** Every text and number in a value; undefined when there are too many to look for. */
function textsIn(root: unknown): readonly string[] | undefined {
  const texts: string[] = [];
  const open: unknown[] = [root];
  let length = 0;
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) open.push(member);
    } else if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      texts.push(text);
      length += text.length;
    }
    if (texts.length + open.length > MAX_LEAVES || length > MAX_TEXT) return undefined;
  }
  return texts;
}
