import {
  contentHash,
  idempotencyKeySchema,
  renderKey,
  toolError,
  windowOf,
  type AcceptedCall,
  type Arguments,
  type SettledFailure,
  type Tool,
  type ToolSpec,
} from '@toolkeel/contract';
import type { DedupKey, Operation } from '../operation.js';
import type { Encryption } from '../encryption/encryption.js';
import type { Settlement } from '../store/store.js';

/** What identifies the act of a call. */
export interface CallDedupKey {
  readonly dedupKey: DedupKey;
  /** The caller's idempotency key, where a template identifies the act. */
  readonly key?: string;
  readonly argsHash: string;
}

type HashedTool = ToolSpec & Pick<Tool, 'normalize'>;

export interface DedupKeys {
  /** A failure if the idempotency key is invalid. `account`: the upstream's own id. */
  readonly ofCall: (
    call: Pick<AcceptedCall, 'tool' | 'args' | 'controls'>,
    account: string,
    meta: Readonly<Record<string, unknown>>,
  ) => CallDedupKey | SettledFailure;
  /** Without an idempotency key. Throws what the tool's `normalize` throws. */
  readonly ofArguments: (tool: HashedTool, account: string, args: Arguments) => CallDedupKey;
}

export interface DedupKeyOptions {
  readonly templates: ReadonlyMap<string, string>;
  readonly encryption: Pick<Encryption, 'keyedHash'>;
}

export function createDedupKeys({ templates, encryption }: DedupKeyOptions): DedupKeys {
  const hashOf = (tool: HashedTool, account: string, args: Arguments): string => {
    const hash = contentHash({ tool: tool.name, account, args });
    // A plain hash of a short secret can be brute-forced.
    return tool.sensitive.length === 0 ? hash : encryption.keyedHash(hash);
  };
  const ofArguments: DedupKeys['ofArguments'] = (tool, account, given) => {
    const args = tool.normalize?.(given) ?? given;
    const argsHash = hashOf(tool, account, args);
    const template = templates.get(tool.name) ?? tool.key;
    const rendered = template === undefined ? undefined : renderKey(template, args);
    const dedupKey: DedupKey =
      rendered === undefined
        ? { by: 'content', value: argsHash }
        : { by: 'template', value: rendered };
    return { dedupKey, argsHash };
  };
  return {
    ofArguments,
    ofCall: ({ tool, args, controls }, account, meta) => {
      const fromMeta = keyInMeta(meta);
      if (!fromMeta.ok) return invalidKey(fromMeta.field, fromMeta.problem);
      const { idempotencyKey } = controls;
      if (
        idempotencyKey !== undefined &&
        fromMeta.key !== undefined &&
        fromMeta.key !== idempotencyKey
      ) {
        return invalidKey('idempotency_key', 'differs from the key in the _meta of the request');
      }
      const key = idempotencyKey ?? fromMeta.key;
      const keyless = ofArguments(tool, account, args);
      if (key === undefined) return keyless;
      // A template identifies one act, whatever idempotency key the caller gives.
      if (keyless.dedupKey.by === 'template') return { ...keyless, key };
      return { ...keyless, dedupKey: { by: 'key', value: key } };
    },
  };
}

function invalidKey(field: string, message: string): SettledFailure {
  const text = `The idempotency key is invalid. ${field}: ${message}`;
  const { input } = toolError('validation_error', text, {
    details: { issues: [{ field, message }] },
  });
  return { ok: false, error: input };
}

export const KEY_IN_META = 'dev.toolkeel/idempotency-key';
/** The name in the open proposal SEP-3182. */
const PROPOSED_KEY = 'idempotencyKey';

type MetaKey =
  | { readonly ok: true; readonly key: string | undefined }
  | { readonly ok: false; readonly field: string; readonly problem: string };

/** Reads the idempotency key from the `_meta` of a request. */
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
      return { ok: false, field, problem: `differs from ${found.field}` };
    }
    found = { field, key: parsed.data };
  }
  return { ok: true, key: found?.key };
}

type Hold = Pick<Settlement, 'holdMs' | 'keyHoldMs' | 'content'>;
type HeldTool = Pick<Tool, 'effect' | 'window' | 'inverse'>;

interface HoldTimes {
  readonly retentionMs: number;
  readonly undeliveredHoldMs: number;
}

/** How long a settled operation holds its dedup key and its caller's idempotency key. */
export function holdOf(
  { dedupKey }: Pick<Operation, 'dedupKey'>,
  tool: HeldTool,
  { retentionMs }: Pick<HoldTimes, 'retentionMs'>,
): Hold {
  // A concurrent call may bind its idempotency key to the operation while it is in flight.
  return { holdMs: holdMsOf(dedupKey.by, tool, retentionMs), keyHoldMs: retentionMs };
}

/**
 * The same for an executed operation. A `once` tool holds its content until the result is delivered: a
 * caller that never received it calls again, however late.
 */
export function executedHoldOf(
  operation: Pick<Operation, 'dedupKey'>,
  tool: HeldTool,
  times: HoldTimes,
): Hold {
  const hold = holdOf(operation, tool, times);
  if (tool.effect !== 'once' || tool.inverse) return hold;
  const windowMs = holdMsOf('content', tool, times.retentionMs);
  return { ...hold, content: { holdMs: Math.max(times.undeliveredHoldMs, windowMs), windowMs } };
}

/**
 * An idempotency key is held as long as its result is retained, a template too unless the tool states a
 * window, and content only for the window.
 */
export function holdMsOf(by: DedupKey['by'], tool: HeldTool, retentionMs: number): number {
  if (by === 'key') return retentionMs;
  if (by === 'content') return Math.min(windowOf(tool), retentionMs);
  // An inverse may be repeated as soon as its counterpart was.
  if (tool.inverse) return 0;
  return Math.min(tool.window ?? retentionMs, retentionMs);
}
