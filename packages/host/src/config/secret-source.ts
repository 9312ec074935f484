import * as z from 'zod';

const prefix = z.string().optional().describe('Goes before the value, e.g. "Bearer ".');

/** Where a secret is kept. The configuration never holds the secret itself. */
export const secretSource = z.union(
  [
    z.strictObject({ env: z.string().min(1).describe('A variable of the environment.'), prefix }),
    z.strictObject({ file: z.string().min(1).describe('A file with mode 600.'), prefix }),
  ],
  { error: 'must be { "env": "NAME" } or { "file": "PATH" }: a secret does not belong here' },
);

export type SecretSource = z.output<typeof secretSource>;

export function isSecretSource(value: unknown): value is SecretSource {
  // Asked of every value of a configuration, so what cannot be one is not parsed.
  if (typeof value !== 'object' || value === null || !('env' in value || 'file' in value))
    return false;
  return secretSource.safeParse(value).success;
}
