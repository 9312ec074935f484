import { raise, toolError } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { askAgain } from '../api/ask-again.js';
import type { Client } from '../api/client.js';
import type { Route } from '../api/routes.js';
import type { ApiRequest } from '../api/session.js';
import { refusalIn } from '../faults.js';
import type { Doc } from '../json.js';
import { dataIn } from '../problems/data-in.js';
import { partialErrorsIn } from '../problems/partial-error.js';
import { unreadable } from '../problems/upstream-problem.js';
import type { Scope } from '../scope.js';

/** A set that belongs to our account: its likes, its bookmarks. */
interface Relation {
  readonly route: Route;
  /** The set below our account. */
  readonly set: string;
  readonly flag: string;
}

/** More than these could push what was done out of the answer. */
const MOST_TOLD = 20;

/** How it is now, and what X says beside that. */
interface Changed<T> {
  readonly now: T;
  readonly beside: ReturnType<typeof partialErrorsIn>;
}

/** Puts something into a set of our account. What is in it already is in it. */
export async function add(
  client: Client,
  { route, set, flag }: Relation,
  json: Readonly<Record<string, string>>,
  scope: Scope,
): Promise<Changed<Doc>> {
  const id = await client.account.userId(scope);
  try {
    const request = { route, path: ['2', 'users', id, set], json };
    return await changed(client, request, flag, scope);
  } catch (cause) {
    if (refusalOf(cause) === 'already_done') return { now: { [flag]: true }, beside: {} };
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
): Promise<Changed<false>> {
  const id = await client.account.userId(scope);
  try {
    const request = { route, path: ['2', 'users', id, set, which] };
    const { now, beside } = await changed(client, request, flag, scope);
    return now[flag] === true ? raise(notDone()) : { now: false, beside };
  } catch (cause) {
    if (isGoneSince(cause)) return { now: false, beside: {} };
    throw cause;
  }
}

/** Asks for a change that may be repeated, and says how it is after it. */
export function changed(
  { requests }: Client,
  request: ApiRequest,
  flag: string,
  scope: Scope,
): Promise<Changed<Doc>> {
  return askAgain(scope, async () => {
    const { doc } = await requests.idempotent(request, scope);
    return flagged(doc, flag);
  });
}

function flagged(doc: Doc, flag: string): Changed<Doc> {
  const data = dataIn(doc, 'needed');
  if (typeof data[flag] !== 'boolean') throw unreadable();
  const { partial_errors: all } = partialErrorsIn(doc);
  return { now: data, beside: all ? { partial_errors: all.slice(0, MOST_TOLD) } : {} };
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
