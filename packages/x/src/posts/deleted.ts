import { raise, toolError, type Others } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { refusalIn } from '../faults.js';
import { docOf } from '../json.js';
import type { Scope } from '../scope.js';

/**
 * Which of our posts our own tool has deleted. Where it was asked to and nobody knows whether it did, X
 * is asked. Throws a tool error where neither can say: below a post that is gone a reply would stand
 * alone, so that not knowing is no reason to go on.
 */
export async function deletedOf(
  client: Client,
  ids: readonly string[],
  others: Others,
  scope: Scope,
): Promise<ReadonlySet<string>> {
  const deletes = await others(['x_delete_tweet']).catch(() =>
    cannotSay('db_error', 'The journal'),
  );
  const deleted = new Set<unknown>();
  const open = new Set<unknown>();
  for (const { args, results } of deletes) {
    const done = results.map(docOf).find((result) => result?.['deleted'] === true);
    if (done) deleted.add(done['id']);
    else open.add(args['tweet_id']);
  }
  const gone = new Set<string>();
  for (const id of ids) {
    if (deleted.has(id) || (open.has(id) && (await isGone(client, id, scope)))) gone.add(id);
  }
  return gone;
}

async function isGone(client: Client, id: string, scope: Scope): Promise<boolean> {
  try {
    await client.provider.getPost({ id }, scope);
    return false;
  } catch (cause) {
    if (cause instanceof FaultError && refusalIn(cause.fault) === 'not_found') return true;
    return cannotSay('x_api_error', 'X');
  }
}

function cannotSay(code: 'db_error' | 'x_api_error', who: string): never {
  const message = `${who} cannot say whether a part was deleted since, so nothing more is sent.`;
  return raise(toolError(code, message, { outcome: 'not_executed' }));
}
