import { randomBytes } from 'node:crypto';
import { createPageTokens, type PageTokens } from '@toolkeel/contract';
import type { HostLog } from '../log/log.js';
import { keptKey } from './kept-key.js';

const KEY_FILE = 'page-tokens.key';

/**
 * Page tokens that hold after a restart. The key is looked for when the first token is needed, so a
 * server that never pages leaves no trace; where it cannot be kept, tokens last as long as the process.
 */
export function persistentPageTokens(dataDir: string, log: HostLog): PageTokens {
  let made: PageTokens | undefined;
  const tokens = (): PageTokens => (made ??= open());
  const open = (): PageTokens => {
    try {
      return createPageTokens({ keys: [keptKey(dataDir, KEY_FILE)] });
    } catch (cause) {
      log('warn', 'page_tokens_not_kept', { dir: dataDir, cause });
      return createPageTokens({ keys: [randomBytes(32)] });
    }
  };
  return {
    encode: (binding, cursor) => tokens().encode(binding, cursor),
    decode: (binding, token) => tokens().decode(binding, token),
  };
}
