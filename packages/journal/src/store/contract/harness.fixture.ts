import type { DedupKey, Operation, Owner } from '../../operation.js';
import type { ClaimRequest, FencingToken, JournalStore, Settlement } from '../store.js';

/** An empty store of the kind under test with a clock that the test controls. */
export interface Bench {
  readonly store: JournalStore;
  /** The same journal, opened by another process. */
  readonly another: () => Promise<JournalStore>;
  readonly advance: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export type OpenBench = () => Promise<Bench>;

export const LEASE = 15_000;
export const DAY = 86_400_000;

export const owner = (id = 'alice', tools: readonly string[] = ['post']): Owner => ({
  id,
  host: 'host-1',
  pid: 42,
  startedAt: '2026-01-01T00:00:00.000Z',
  tools,
});

let serial = 0;
export const newId = (): string => `op_${String(++serial).padStart(6, '0')}`;

export const byContent = (value = 'c'.repeat(64)): DedupKey => ({ by: 'content', value });
export const byKey = (value = 'key-0123456789abcdef'): DedupKey => ({ by: 'key', value });

export const byTemplate = (value = 'refund:1'): DedupKey => ({ by: 'template', value });

export const request = (changes: Partial<ClaimRequest> = {}): ClaimRequest => ({
  id: newId(),
  owner: 'alice',
  account: 'main',
  tool: 'post',
  effect: 'once',
  dedupKey: byContent(),
  argsHash: 'h1',
  args: '{"text":"hello"}',
  correlationId: 'c-1',
  allowDuplicate: false,
  ...changes,
});

export const fencingToken = ({ id, owner: by = 'alice', fence }: Operation): FencingToken => ({
  id,
  owner: by,
  fence,
});

export const success = (changes: Partial<Settlement> = {}): Settlement => ({
  state: 'succeeded',
  outcome: 'executed',
  answer: '{"data":{"id":"1"}}',
  code: 'ok',
  holdMs: 30_000,
  ...changes,
});

export const unknown = (changes: Partial<Settlement> = {}): Settlement =>
  success({ state: 'unknown', outcome: 'unknown', code: 'outcome_unknown', ...changes });

export const release = (changes: Partial<Settlement> = {}): Settlement =>
  success({ state: 'released', outcome: 'not_executed', code: 'rate_limited', ...changes });

/** A claim that is expected to succeed. */
export async function claimed(
  store: JournalStore,
  changes: Partial<ClaimRequest> = {},
): Promise<Operation> {
  const result = await store.claim(request(changes));
  if (result.kind !== 'mine') throw new Error(`claim not granted: ${JSON.stringify(result)}`);
  return result.operation;
}

export async function sending(
  store: JournalStore,
  changes: Partial<ClaimRequest> = {},
  step?: string,
): Promise<Operation> {
  const operation = await claimed(store, changes);
  const sent = await store.send(
    fencingToken(operation),
    step === undefined ? plain : { ...plain, step },
  );
  if (sent.kind !== 'sent') throw new Error(`not sent: ${JSON.stringify(sent)}`);
  return operation;
}

export async function settled(
  store: JournalStore,
  changes: Partial<ClaimRequest> = {},
  settlement: Settlement = success(),
): Promise<Operation> {
  const operation = await sending(store, changes);
  if (!(await store.settle(fencingToken(operation), settlement))) throw new Error('not settled');
  return (await store.get(operation.id))!;
}

export const plain = { limits: [] } as const;
