import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
}

/** Of this package: source and build lie equally deep in it. */
export function ownVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as Manifest).version;
}
