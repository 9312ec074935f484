/**
 * A pattern in which `*` stands for any characters, none included. The parts between stars are
 * searched from left to right, each once, so that no text can make it slow: this is why patterns are
 * not regular expressions.
 */
export function glob(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  const between = rest.filter((part) => part !== '');
  return (text) => {
    const end = text.length - last.length;
    if (!text.startsWith(first) || !text.endsWith(last) || end < first.length) return false;
    let from = first.length;
    for (const part of between) {
      const found = text.indexOf(part, from);
      if (found === -1 || found + part.length > end) return false;
      from = found + part.length;
    }
    return true;
  };
}

export const isPattern = (name: string): boolean => name.includes('*');
