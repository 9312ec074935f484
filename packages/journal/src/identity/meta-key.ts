import { idempotencyKeySchema } from '@toolkeel/contract';

export const KEY_IN_META = 'dev.toolkeel/idempotency-key';
/** As the open proposal SEP-3182 names it. */
const PROPOSED_KEY = 'idempotencyKey';

export type MetaKey =
  | { readonly ok: true; readonly key: string | undefined }
  | { readonly ok: false; readonly field: string; readonly problem: string };

/** The key that a client put beside the arguments, in its request's `_meta`. */
export function keyInMeta(meta: Readonly<Record<string, unknown>>): MetaKey {
  let found: { readonly field: string; readonly key: string } | undefined;
  for (const name of [KEY_IN_META, PROPOSED_KEY]) {
    if (!Object.hasOwn(meta, name)) continue;
    const field = `_meta.${name}`;
    const parsed = idempotencyKeySchema.safeParse(meta[name]);
    if (!parsed.success) {
      return { ok: false, field, problem: 'must be 16 to 255 of A-Z a-z 0-9 _ . : -' };
    }
    if (found && found.key !== parsed.data) {
      return { ok: false, field, problem: `names another key than ${found.field}` };
    }
    found = { field, key: parsed.data };
  }
  return { ok: true, key: found?.key };
}
