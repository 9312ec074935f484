import { keyGivenTo, type Operation } from '../operation.js';
import { isSettled } from '../store/record.js';
import { heldUntil, HOLD_MS, isExecuted, WINDOW_MS } from './checker.fixture.js';
import { CALL_MS } from './adapter.fixture.js';
import type { World } from './world.fixture.js';

/** Remaining times that no clock step can tell apart fall into one bucket. */
const BUCKETS = [0, 1000, 16_000, 31_000, HOLD_MS + 1000] as const;

function bucket(leftMs: number): number {
  const at = BUCKETS.findIndex((most) => leftMs <= most);
  return at < 0 ? BUCKETS.length : at;
}

/** The operations that can still affect a later event. */
export function liveRows({ rows, checker, time }: World): readonly Operation[] {
  return rows.filter((row) => {
    if (!isSettled(row)) return true;
    if (row.tool !== 'note') return false;
    const key = keyGivenTo(row);
    const hasKey = key !== undefined && isKept(key);
    if (!isExecuted(row)) return hasKey ? row.state !== 'released' : row.holdsDedupKey && !key;
    const isAnswer = [...checker.answeredWith].some(([name, by]) => by === row.id && isKept(name));
    const isNamed = hasKey || isAnswer || row.dedupKey.by === 'template';
    if (isNamed || (row.holdsDedupKey && !key)) return true;
    if (checker.commitOf(row.id)?.undone) return false;
    return time.now < Math.max(heldUntil(row, checker.delivered.get(row.id)), heldUntil(row));
  });
}

/** A new key is used once. */
const isKept = (key: string): boolean => !key.startsWith('new-');

/** Whether a delivery is only in the memory of a process. */
export function isUnrecorded({ rows, checker }: World): boolean {
  return rows.some(({ id, deliveredAt }) => deliveredAt !== checker.delivered.get(id));
}

/** Whether a deadline is within this time. If not, letting time pass makes no difference. */
export function isDue(world: World, ms: number): boolean {
  const { time, checker, leases, pending, upstream } = world;
  const isWithin = (at: number | undefined): boolean =>
    at !== undefined && at > time.now && at <= time.now + ms;
  if (isUnrecorded(world) || ((upstream.held || pending.length > 0) && ms > CALL_MS)) return true;
  return liveRows(world).some((row) => {
    const { id, state, owner, approval } = row;
    if (isWithin(row.heldUntil) || isWithin(windowOf(row))) return true;
    if (isExecuted(row)) {
      return isWithin(heldUntil(row, checker.delivered.get(id))) || isWithin(heldUntil(row));
    }
    if (state === 'awaiting_approval') return isWithin(approval?.expiresAt);
    return owner !== undefined && isWithin(leases.get(owner)?.until);
  });
}

/** The end of a window that wrongly starts at the claim or the settlement. */
function windowOf({ createdAt, settledAt = createdAt }: Operation): number {
  return settledAt + WINDOW_MS;
}

/** A string that is equal for equivalent worlds: names are replaced by their order. */
export function canonical(world: World): string {
  const { checker, time, stalled, upstream, template, pending } = world;
  const live = liveRows(world);
  const ranks = new Map<string, number>();
  const rank = (kind: string, name: string | undefined): number | string => {
    if (name === undefined) return '';
    const full = kind + name;
    let fail = ranks.get(full);
    if (fail === undefined) ranks.set(full, (fail = ranks.size));
    return fail;
  };
  const left = (until: number | undefined): number | string =>
    until === undefined ? '' : bucket(until - time.now);
  const ownerOf = (id: string): string => {
    const lease = world.leases.get(id);
    return lease ? `${lease.host} ${left(lease.until)}` : 'live';
  };
  const parts = live.map((row) => {
    const { id, dedupKey, approval, correlationId } = row;
    const commit = checker.commitOf(id);
    const call = checker.calls.get(correlationId);
    const delivered = checker.delivered.get(id);
    const answered = [...checker.answeredWith].filter(([, by]) => by === id);
    const blockers = isSettled(row) ? [] : live.filter((each) => call?.blockers.has(each.id));
    return [
      rank('operation', id),
      row.tool,
      rank('account', row.account),
      dedupKey.by,
      rank(dedupKey.by, dedupKey.value),
      rank('key', row.key),
      rank('key', call?.key),
      answered.map(([key]) => rank('key', key)),
      row.state,
      row.outcome,
      row.owner && row.state !== 'unknown' && ownerOf(row.owner),
      row.holdsDedupKey ? left(row.heldUntil) : '-',
      left(windowOf(row)),
      isExecuted(row) && [left(heldUntil(row, delivered)), left(heldUntil(row))],
      delivered !== undefined,
      row.deliveredAt !== undefined,
      commit ? (commit.undone ? 'undone' : commit.subject) : '',
      !isSettled(row) && checker.denied.has(id),
      approval && [approval.decision, approval.editedArgs !== undefined, left(approval.expiresAt)],
      blockers.map((each) => rank('operation', each.id)),
    ].join();
  });
  const waiting = pending.map(({ process, call }) => [
    process.name,
    call.key !== undefined,
    call.duplicate,
  ]);
  return [
    template,
    live.length > 0 && world.heldContent,
    stalled && [stalled.name, stalled.stalledAt],
    upstream.held && rank('operation', upstream.held.by),
    waiting.join(),
    ...parts,
  ].join('|');
}
