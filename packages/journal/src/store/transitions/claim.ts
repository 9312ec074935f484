import { JournalError } from '../../error.js';
import { isInFlight, isSettled, type OperationRecord, toOperation } from '../record.js';
import type { Script } from '../script.js';
import type { Act, ClaimRequest, ClaimResult, HeldQuery } from '../store.js';
import type { Tables } from '../tables.js';
import {
  answerBesides,
  resultOfMatch,
  bindKey,
  shouldBindKey,
  isResumable,
  executedDuplicate,
  type ContentMatch,
  contentMatches,
  releaseKey,
  holdsKey,
  isHoldExpired,
} from './dedup-keys.js';
import { transferTo, expireClaim } from './ownership.js';

/** The scoped keys under which a claim looks for an earlier operation. */
export interface ClaimKeys {
  readonly scopedKey: string;
  /** Of the explicit key, if the dedup key is a template. */
  readonly explicitKey: string | undefined;
  /** Of the content, if operations with other dedup keys answer the call as well. */
  readonly content: string | undefined;
  /** Of the content, to be stored: later calls find an intended duplicate by it, too. */
  readonly recordedContent: string | undefined;
}

export function claimKeys(
  act: HeldQuery & Pick<ClaimRequest, 'besides'>,
  scopedKeyOf: (act: Act) => string,
): ClaimKeys {
  const { account, tool, key, dedupKey, effect, content, besides } = act;
  const scopedKey = scopedKeyOf(act);
  const explicitKey =
    key === undefined
      ? undefined
      : scopedKeyOf({ account, tool, dedupKey: { by: 'key', value: key } });
  if ((effect !== 'once' && besides === undefined) || content === undefined) {
    return { scopedKey, explicitKey, content: undefined, recordedContent: undefined };
  }
  const recordedContent =
    dedupKey.by === 'content'
      ? scopedKey
      : scopedKeyOf({ account, tool, dedupKey: { by: 'content', value: content } });
  return {
    scopedKey,
    explicitKey,
    content: act.allowDuplicate ? undefined : recordedContent,
    recordedContent,
  };
}

interface LookupKey {
  readonly scopedKey: string;
  /** An explicit key is bound to one set of arguments and ignores `allowDuplicate`. */
  readonly isExplicit: boolean;
}

/** The explicit key comes first: it replays its own answer even if the template finds another one. */
function lookupKeys(
  { dedupKey }: Act,
  { scopedKey, explicitKey }: ClaimKeys,
): readonly LookupKey[] {
  const own = { scopedKey, isExplicit: dedupKey.by === 'key' };
  return explicitKey === undefined ? [own] : [{ scopedKey: explicitKey, isExplicit: true }, own];
}

function* withContent(
  { operations }: Tables,
  { content }: ClaimKeys,
): Script<readonly OperationRecord[]> {
  return content === undefined ? [] : yield* operations.withContent(content);
}

const NO_MATCHES: readonly ContentMatch[] = [];

/** The matches that hold none of the call's own keys. */
function matchesUnderOtherKeys(
  tables: Tables,
  records: readonly OperationRecord[],
  act: Act,
  keys: ClaimKeys,
): readonly ContentMatch[] {
  const { content } = keys;
  if (content === undefined || records.length === 0) return NO_MATCHES;
  const own = lookupKeys(act, keys);
  const others = records.filter(
    (record) => !own.some(({ scopedKey }) => holdsKey(record, scopedKey)),
  );
  return contentMatches(others, act, content, tables.now);
}

/**
 * The part of a claim that only reads: returns the result if an operation is held or replayed. `free`:
 * no operation was found, so an insert will probably succeed. `undecided`: `claim` has to write.
 */
export function* findHolder(
  tables: Tables,
  request: ClaimRequest,
  keys: ClaimKeys,
): Script<ClaimResult | 'free' | 'undecided'> {
  const { besides } = request;
  const matches = yield* withContent(tables, keys);
  if (besides !== undefined && keys.content !== undefined) {
    if (matches.length === 0) return 'free';
    for (const record of matches) if (yield* isAbandoned(tables, record)) return 'undecided';
    const met = answerBesides(matches, besides, keys.scopedKey, tables.now);
    if (met === undefined || isResumable(met)) return 'undecided';
    return { kind: 'held', operation: toOperation(met, tables.now) };
  }
  let isFree = matches.length === 0;
  for (const lookup of lookupKeys(request, keys)) {
    const holder =
      lookup.scopedKey === keys.content
        ? matches.find((record) => holdsKey(record, lookup.scopedKey))
        : yield* tables.operations.holder(lookup.scopedKey);
    if (holder === undefined) {
      const duplicate = isIntendedDuplicate(request, lookup)
        ? undefined
        : yield* executedDuplicate(tables, request);
      if (duplicate && !lookup.isExplicit)
        return { kind: 'held', operation: toOperation(duplicate, tables.now) };
      continue;
    }
    if (yield* isAbandoned(tables, holder)) return 'undecided';
    const held = heldResult(tables, holder, request, lookup);
    if (held !== undefined) return held;
    // It can be resumed, whatever the other key finds.
    if (!isSettled(holder) && !isIntendedDuplicate(request, lookup)) return 'undecided';
    isFree = false;
  }
  if (matches.length > 0) {
    for (const record of matches) if (yield* isAbandoned(tables, record)) return 'undecided';
    const [first] = matchesUnderOtherKeys(tables, matches, request, keys);
    if (first) return resultOfMatch(first, request, tables.now) ?? 'undecided';
  }
  return isFree ? 'free' : 'undecided';
}

/** Whether a claim would find an operation, with a live owner or not. */
export function* isHeld(tables: Tables, act: HeldQuery, keys: ClaimKeys): Script<boolean> {
  for (const lookup of lookupKeys(act, keys)) {
    if (act.allowDuplicate && !lookup.isExplicit) continue;
    const holder = yield* tables.operations.holder(lookup.scopedKey);
    if (holder === undefined) continue;
    if (!isSettled(holder) || !isHoldExpired(holder, lookup.scopedKey, tables.now)) return true;
  }
  const matches = yield* withContent(tables, keys);
  return matchesUnderOtherKeys(tables, matches, act, keys).length > 0;
}

export function* claim(
  tables: Tables,
  request: ClaimRequest,
  keys: ClaimKeys,
  isProbablyFree = false,
): Script<ClaimResult> {
  if (isProbablyFree) {
    const record = newRecord(request, keys, keys.scopedKey, tables.now);
    if (yield* tables.operations.insertIfFree(record, keys.content))
      return newClaim(record, tables.now);
  }
  const { besides } = request;
  return besides === undefined || keys.content === undefined
    ? yield* findOrInsert(tables, request, keys)
    : yield* findOrInsertBesides(tables, request, keys, besides);
}

/** A claim whose call is separate from some operations, and a repeat of any other that is open. */
function* findOrInsertBesides(
  tables: Tables,
  request: ClaimRequest,
  keys: ClaimKeys,
  besides: readonly string[],
): Script<ClaimResult> {
  const { operations, owners, now } = tables;
  const { scopedKey } = keys;
  for (let round = 0; round < MAX_ATTEMPTS; round += 1) {
    for (const record of yield* withContent(tables, keys)) {
      if (yield* isAbandoned(tables, record)) yield* expireClaim(tables, record);
    }
    const records = yield* withContent(tables, keys);
    const met = answerBesides(records, besides, scopedKey, now);
    if (met && !isResumable(met)) return { kind: 'held', operation: toOperation(met, now) };
    if (!(yield* owners.alive(request.owner))) throw lapsedOwner(request.owner);
    if (met) return yield* resume(tables, met, request.owner);
    const holder = yield* operations.holder(scopedKey);
    const isVacant = holder && isSettled(holder) && isHoldExpired(holder, scopedKey, now);
    if (isVacant) yield* operations.update(holder, releaseKey(holder, scopedKey));
    const own = !holder || isVacant ? scopedKey : undefined;
    const record = newRecord(request, keys, own, now);
    if (yield* operations.insert(record)) return newClaim(record, now);
  }
  throw claimFailed(request);
}

/** The general case, in its own generator: the size of a generator is part of the cost of every claim. */
function* findOrInsert(
  tables: Tables,
  request: ClaimRequest,
  keys: ClaimKeys,
): Script<ClaimResult> {
  const { operations, owners, now } = tables;
  const { scopedKey, explicitKey, content } = keys;
  for (let round = 0; round < MAX_ATTEMPTS; round += 1) {
    // The common case, a new operation with one key, needs a single lookup.
    const isNew =
      explicitKey === undefined &&
      content === undefined &&
      (yield* operations.holder(scopedKey)) === undefined;
    const seen = isNew ? 'free' : yield* findHolder(tables, request, keys);
    if (typeof seen === 'object') return seen;
    // A replay needs no lease; becoming the owner does.
    if (!(yield* owners.alive(request.owner))) throw lapsedOwner(request.owner);
    let own: string | undefined = scopedKey;
    if (seen === 'undecided') {
      for (const lookup of lookupKeys(request, keys)) {
        const left = yield* vacateKey(tables, request, lookup);
        if (typeof left === 'object') return left;
        if (left === 'duplicate') own = undefined;
      }
      const met = yield* joinMatch(tables, request, keys);
      if (met !== undefined) return met;
      const duplicate = request.allowDuplicate
        ? undefined
        : yield* executedDuplicate(tables, request);
      if (duplicate) return { kind: 'held', operation: toOperation(duplicate, now) };
    }
    const record = newRecord(request, keys, own, now);
    if (yield* operations.insert(record)) return newClaim(record, now);
  }
  throw claimFailed(request);
}

function claimFailed({ id }: ClaimRequest): JournalError {
  return new JournalError(
    'unavailable',
    `Could not claim ${id}: other processes took its dedup key in every attempt. Repeat the call.`,
  );
}

/** The result of an operation with the same content and other keys, if there is one. */
function* joinMatch(
  tables: Tables,
  request: ClaimRequest,
  keys: ClaimKeys,
): Script<ClaimResult | undefined> {
  for (const record of yield* withContent(tables, keys)) {
    if (yield* isAbandoned(tables, record)) yield* expireClaim(tables, record);
  }
  const matches = yield* withContent(tables, keys);
  const [first] = matchesUnderOtherKeys(tables, matches, request, keys);
  if (first === undefined) return undefined;
  const answered = resultOfMatch(first, request, tables.now);
  if (answered) return answered;
  const bound = shouldBindKey(first.record, request)
    ? yield* bindKey(tables, first.record, request, keys.explicitKey ?? keys.scopedKey)
    : first.record;
  if (isResumable(bound)) return yield* resume(tables, bound, request.owner);
  return { kind: 'held', operation: toOperation(bound, tables.now) };
}

/** An attempt fails if another process claims the same key between the lookup and the insert. */
const MAX_ATTEMPTS = 1000;

/** Releases an expired key, or returns its holder. `duplicate`: the holder keeps it beside the new operation. */
function* vacateKey(
  tables: Tables,
  request: ClaimRequest,
  lookup: LookupKey,
): Script<ClaimResult | 'free' | 'duplicate'> {
  const { operations } = tables;
  const found = yield* operations.holder(lookup.scopedKey);
  if (found === undefined) return 'free';
  const holder = (yield* isAbandoned(tables, found)) ? yield* expireClaim(tables, found) : found;
  if (!holdsKey(holder, lookup.scopedKey)) return 'free';
  const held = heldResult(tables, holder, request, lookup);
  if (held !== undefined) return held;
  if (isSettled(holder) && isHoldExpired(holder, lookup.scopedKey, tables.now)) {
    yield* operations.update(holder, releaseKey(holder, lookup.scopedKey));
    return 'free';
  }
  // The holder keeps the key until the duplicate succeeds.
  if (isIntendedDuplicate(request, lookup)) return 'duplicate';
  return yield* resume(tables, holder, request.owner);
}

function newClaim(record: OperationRecord, now: number): ClaimResult {
  return { kind: 'mine', operation: toOperation(record, now), resumed: false };
}

function* isAbandoned({ owners }: Tables, record: OperationRecord): Script<boolean> {
  return isInFlight(record) && !(yield* owners.alive(record.owner!));
}

/** The result of a claim that the holder blocks; undefined if the caller can take the key or resume. */
function heldResult(
  { now }: Tables,
  holder: OperationRecord,
  request: ClaimRequest,
  lookup: LookupKey,
): ClaimResult | undefined {
  if (isIntendedDuplicate(request, lookup)) return undefined;
  const isFree = isSettled(holder)
    ? isHoldExpired(holder, lookup.scopedKey, now)
    : canResume(holder, request, lookup);
  return isFree ? undefined : { kind: 'held', operation: toOperation(holder, now) };
}

/** A caller resumes at the next step, but under an explicit key only with the same arguments. */
function canResume(
  holder: OperationRecord,
  { argsHash }: ClaimRequest,
  { isExplicit }: LookupKey,
): boolean {
  return isResumable(holder) && (!isExplicit || argsHash === holder.argsHash);
}

function* resume(tables: Tables, holder: OperationRecord, owner: string): Script<ClaimResult> {
  const operation = yield* transferTo(tables, holder, owner);
  return { kind: 'mine', operation, resumed: operation.steps.length > 0 };
}

function isIntendedDuplicate({ allowDuplicate }: ClaimRequest, { isExplicit }: LookupKey): boolean {
  return allowDuplicate && !isExplicit;
}

/** Shared, because step arrays are replaced and never mutated. */
const NO_STEPS: OperationRecord['steps'] = [];

function newRecord(
  request: ClaimRequest,
  { explicitKey, recordedContent }: ClaimKeys,
  scopedKey: string | undefined,
  now: number,
): OperationRecord {
  return {
    id: request.id,
    account: request.account,
    tool: request.tool,
    effect: request.effect,
    dedupKey: request.dedupKey,
    key: request.key,
    argsHash: request.argsHash,
    args: request.args,
    state: 'claimed',
    outcome: undefined,
    fence: 1,
    owner: request.owner,
    correlationId: request.correlationId,
    createdAt: now,
    sendingAt: undefined,
    settledAt: undefined,
    heldUntil: undefined,
    answer: undefined,
    code: undefined,
    steps: NO_STEPS,
    approval: undefined,
    scopedKey,
    secondaryDedupKey: explicitKey,
    secondaryUntil: undefined,
    contentDedupKey: recordedContent === scopedKey ? undefined : recordedContent,
    editedDedupKey: undefined,
    contentUntil: undefined,
    windowMs: undefined,
    deliveredAt: undefined,
    sends: 0,
    notBefore: undefined,
  };
}

function lapsedOwner(owner: string): JournalError {
  return new JournalError(
    'lapsed',
    `The lease of owner ${owner} has expired, so it cannot claim. Register again, then repeat the call.`,
  );
}
