import type { ConsoleExtras } from '@toolkeel/host';

/** The maximum weighted length of a post without a subscription. */
const MAX_POST = 280;

/** What the console needs of packages that a host does not know. All of it is loaded on demand. */
export const consoleExtras: ConsoleExtras = {
  countTokens: async () => (await import('./tokens.js')).loadTokenCounter(),
  textPreview: async (tool, args) => {
    const argument = ['text', 'body', 'message', 'content'].find(
      (name) => typeof args[name] === 'string',
    );
    if (argument === undefined) return undefined;
    const value = args[argument] as string;
    if (!tool.startsWith('x_')) {
      const length = [...new Intl.Segmenter().segment(value)].length;
      return { argument, value, kind: 'text', length };
    }
    const { weightedLength } = await import('@toolkeel/x');
    const length = weightedLength(value);
    return { argument, value, kind: 'post', length, max_length: MAX_POST };
  },
};
