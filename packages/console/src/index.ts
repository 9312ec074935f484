export type * from './api/types.js';

/**
 * The absolute path of the built page: `index.html`, and under `assets/` scripts and styles whose names contain a
 * hash of their content. It is the same for the source and for the compiled module.
 */
export function files(): string {
  const { pathname } = new URL('../dist/public', import.meta.url);
  return decodeURIComponent(pathname).replace(/^\/([A-Za-z]:)/, '$1');
}
