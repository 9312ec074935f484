import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** A compiled file of this folder: child processes run the build, also when tests run the sources. */
export function built(file: string): string {
  return fileURLToPath(new URL(`../../dist/journal/${file}`, import.meta.url));
}

/** How to start a server of the drill: its script, and additional environment variables. */
export interface Launch {
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The compiled server, bundled into one file with Node's compile cache. It starts in half the time, so
 * that a drill kills twice as many processes in the same time. Concurrent runs need different folders.
 */
export async function bundledLaunch(folder = 'bundled'): Promise<Launch> {
  const dir = built(folder);
  const script = join(dir, 'server.mjs');
  mkdirSync(dir, { recursive: true });
  await build({
    entryPoints: [built('server/main.js')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Native modules cannot be bundled.
    external: ['libsql', 'pg-native'],
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'error',
  });
  return { script, env: { NODE_COMPILE_CACHE: join(dir, 'compiled') } };
}
