import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

const ownScript = fileURLToPath(new URL('../bin.js', import.meta.url));

/**
 * How a client starts us again. Where npx has put us will be cleaned up one day, so then it is npx
 * again; elsewhere it is this Node.js and this file: clients with windows have a path of their own.
 */
export function launchOf(
  args: readonly string[],
  { script = ownScript, node = process.execPath, platform = process.platform } = {},
): Launch {
  if (!script.includes(`${sep}_npx${sep}`)) return { command: node, args: [script, ...args] };
  const npx = ['-y', 'toolkeel', ...args];
  return platform === 'win32'
    ? { command: 'cmd', args: ['/c', 'npx', ...npx] }
    : { command: 'npx', args: npx };
}
