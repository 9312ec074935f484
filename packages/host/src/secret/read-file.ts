import { readFileSync, statSync } from 'node:fs';

/** What a file that holds a secret says, or why it is not read. */
export type SecretFile =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly reason: string };

/** Others must not be able to read it: then it would be no secret. */
export function readSecretFile(path: string): SecretFile {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile()) return { ok: false, reason: `there is no file ${path}` };
  // Windows has no such bits.
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
    const mode = (stat.mode & 0o777).toString(8);
    return { ok: false, reason: `${path} has mode ${mode}: others can read it, so set it to 600` };
  }
  const value = readFileSync(path, 'utf8').trim();
  return value === '' ? { ok: false, reason: `${path} is empty` } : { ok: true, value };
}
