import {
  contentHash,
  renderKey,
  toolError,
  type AcceptedCall,
  type Arguments,
  type SettledFailure,
  type Tool,
  type ToolSpec,
} from '@toolkeel/contract';
import type { DedupKey } from '../operation.js';
import type { Encryption } from '../encryption/encryption.js';
import { keyInMeta } from './meta-key.js';

/** What a call is the same as, and what it was asked to do. */
export interface CallDedupKey {
  readonly dedupKey: DedupKey;
  /** The caller's own key, where the identity is what a template names. */
  readonly key?: string;
  readonly argsHash: string;
}

type Hashed = ToolSpec & Pick<Tool, 'normalize'>;

export interface Identities {
  /** A failure where the key cannot be one. `account`: as the upstream knows it. */
  readonly of: (
    call: Pick<AcceptedCall, 'tool' | 'args' | 'controls'>,
    account: string,
    meta: Readonly<Record<string, unknown>>,
  ) => CallDedupKey | SettledFailure;
  /** The identity of an act for which no key was given. Throws what the tool's `normalize` throws. */
  readonly withoutKey: (tool: Hashed, account: string, args: Arguments) => CallDedupKey;
}

export interface IdentityOptions {
  readonly templates: ReadonlyMap<string, string>;
  readonly encryption: Pick<Encryption, 'keyedHash'>;
}

export function identities({ templates, encryption }: IdentityOptions): Identities {
  const hashOf = (tool: Hashed, account: string, args: Arguments): string => {
    const print = contentHash({ tool: tool.name, account, args });
    // A bare hash of a short secret is found by trying.
    return tool.sensitive.length === 0 ? print : encryption.keyedHash(print);
  };
  const withoutKey: Identities['withoutKey'] = (tool, account, given) => {
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
    withoutKey,
    of: ({ tool, args, controls }, account, meta) => {
      const beside = keyInMeta(meta);
      if (!beside.ok) return refused(beside.field, beside.problem);
      const { idempotencyKey } = controls;
      if (
        idempotencyKey !== undefined &&
        beside.key !== undefined &&
        beside.key !== idempotencyKey
      ) {
        return refused('idempotency_key', 'names another key than the _meta of the request');
      }
      const key = idempotencyKey ?? beside.key;
      const unnamed = withoutKey(tool, account, args);
      if (key === undefined) return unnamed;
      // What a template names is one act, whatever key it is asked for with.
      if (unnamed.dedupKey.by === 'template') return { ...unnamed, key };
      return { ...unnamed, dedupKey: { by: 'key', value: key } };
    },
  };
}

function refused(field: string, message: string): SettledFailure {
  const text = `The idempotency key was refused. ${field}: ${message}`;
  const { input } = toolError('validation_error', text, {
    details: { issues: [{ field, message }] },
  });
  return { ok: false, error: input };
}
