import { FaultError, type FaultKind } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { routes } from '../api/routes.js';
import { docOf, numberOf, textOf, type Doc } from '../json.js';
import { pause } from '../pause.js';
import { dataIn } from '../problems/data-in.js';
import type { Scope } from '../scope.js';
import { failedAfter, whyOf } from './failure.js';
import { lookAfterMs, MAX_LOOKS } from './looks.js';
import { UPLOADS } from './sender.js';
import type { There } from './there.js';

/** What X says of an upload. */
export async function statusOf(client: Client, id: string, scope: Scope): Promise<Doc> {
  const query = { command: 'STATUS', media_id: id };
  const request = { route: routes.uploadStatus, path: UPLOADS, query };
  return dataIn((await client.requests.read(request, scope)).doc, 'needed');
}

/** Whether X still works on it when the time is up, or when X does not tell any more. */
export async function isStillProcessing(
  client: Client,
  there: There,
  given: Doc | undefined,
  scope: Scope,
): Promise<boolean> {
  let info = given;
  for (let look = 0; look < MAX_LOOKS; look++) {
    const state = textOf(info?.['state']);
    if (info === undefined || state === 'succeeded') return false;
    if (state === 'failed') {
      const why = reasonIn(info) ?? 'it does not say why';
      failedAfter('processing', `X has the file and could not use it: ${why}.`, there);
    }
    const waitMs = lookAfterMs(look, numberOf(info['check_after_secs']));
    if (client.clock.now() + waitMs >= scope.deadline) return true;
    await pause(client.clock, waitMs, scope.signal);
    try {
      info = docOf((await statusOf(client, there.id, scope))['processing_info']);
    } catch (cause) {
      return notTold(there, cause);
    }
  }
  return true;
}

const REFUSALS: ReadonlySet<FaultKind> = new Set(['rejected', 'auth']);

/**
 * The file is at X, whatever becomes of a question about it. Silence or a limit says nothing of the file;
 * a refusal may, so it is told.
 */
function notTold(there: There, cause: unknown): true {
  if (!(cause instanceof FaultError)) throw cause;
  if (!REFUSALS.has(cause.fault.kind)) return true;
  const said = `X has the file as ${there.id} and does not say whether it is ready: ${whyOf(cause)}`;
  return failedAfter('processing', said, there, cause);
}

function reasonIn(info: Doc): string | undefined {
  const error = docOf(info['error']);
  return textOf(error?.['message']) ?? textOf(error?.['name']);
}
