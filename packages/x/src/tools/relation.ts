import { raise, toolError } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import type { Route } from '../api/routes.js';
import { refusalIn } from '../faults.js';
import { docOf, type Doc } from '../json.js';
import { unreadable } from '../problems/upstream-problem.js';
import type { Scope } from '../scope.js';

/** A set that belongs to our account: its likes, its bookmarks. */
interface Relation {
  readonly route: Route;
  /** The set below our account. */
  readonly set: string;
  readonly flag: string;
}

/** Puts something into a set of our account. What is in it already is in it. */
export async function add(
  client: Client,
  { route, set, flag }: Relation,
  json: Readonly<Record<string, string>>,
  scope: Scope,
): Promise<Doc> {
  const { id } = await client.me(scope);
  try {
    const request = { route, path: ['2', 'users', id, set], json };
    return flagged((await client.requests.idempotent(request, scope)).doc, flag);
  } catch (cause) {
    if (refusalOf(cause) === 'already_done') return { [flag]: true };
    throw cause;
  }
}

/** X answered as if all were well, and says that nothing changed. */
export const notDone = () =>
  toolError('upstream_rejected', 'X took the request and did not carry it out.', {
    outcome: 'not_executed',
    details: { reason: 'not_done' },
  });

/** Takes something out of it. What is not there after a first try is out of it, whoever did that. */
export async function remove(
  client: Client,
  { route, set, flag }: Relation,
  which: string,
  scope: Scope,
): Promise<false> {
  const { id } = await client.me(scope);
  try {
    const request = { route, path: ['2', 'users', id, set, which] };
    const doc = flagged((await client.requests.idempotent(request, scope)).doc, flag);
    return doc[flag] === true ? raise(notDone()) : false;
  } catch (cause) {
    if (isGoneSince(cause)) return false;
    throw cause;
  }
}

function flagged(doc: Doc, flag: string): Doc {
  const data = docOf(doc['data']);
  if (typeof data?.[flag] !== 'boolean') throw unreadable();
  return data;
}

function refusalOf(cause: unknown) {
  return cause instanceof FaultError ? refusalIn(cause.fault) : undefined;
}

/** Not there, and an earlier attempt may have been the reason. */
export function isGoneSince(cause: unknown): boolean {
  return (
    cause instanceof FaultError && cause.fault.sent === 'maybe' && refusalOf(cause) === 'not_found'
  );
}
