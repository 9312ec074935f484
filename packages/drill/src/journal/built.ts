import { fileURLToPath } from 'node:url';

/** The compiled file of this folder: processes run what was built, also when tests read the sources. */
export function built(file: string): string {
  return fileURLToPath(new URL(`../../dist/journal/${file}`, import.meta.url));
}
