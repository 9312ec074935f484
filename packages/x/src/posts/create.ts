import { toolError, raise, type ToolContext } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { idOf } from '../api/read-post.js';
import { routes } from '../api/routes.js';
import { faultToError, refusalIn } from '../faults.js';
import { docOf, textOf, type Doc } from '../json.js';
import { partialErrorsIn } from '../problems/partial-error.js';
import { readPartialProblems } from '../problems/problem.js';
import { isUnknown, readingOf } from '../problems/reading-of.js';
import { faultOfMissing, unreadable } from '../problems/upstream-problem.js';
import type { Scope } from '../scope.js';
import { unescapeHtml } from '../text/html-entities.js';
import { claimsOf, type Claims } from './claims.js';
import { bodyOf, type Draft } from './draft.js';
import { fitting } from './fitting.js';
import type { Entry } from './sent-posts.js';
import { findEqual, findReply, findWords, readBack, type Posted } from './read-back.js';

/**
 * Sends a post, once. Throws a `FaultError`, or a tool error where that can say more. `claims` stand for
 * a reply to a post of the same operation: what X calls a duplicate below that may be this very one.
 */
async function createPost(
  client: Client,
  draft: Draft,
  scope: Scope,
  claims?: () => Promise<Claims>,
): Promise<Posted> {
  try {
    const request = { route: routes.createPost, path: ['2', 'tweets'], json: bodyOf(draft) };
    return readPosted((await client.requests.once(request, scope)).doc);
  } catch (cause) {
    if (!isDuplicate(cause)) throw cause;
    const { replyTo } = draft;
    return claims && replyTo !== undefined
      ? findDuplicate(client, { ...draft, replyTo }, scope, claims, cause)
      : refuseDuplicate(client, draft, scope, cause);
  }
}

/**
 * The same, and where nobody knows whether it was carried out, X is asked. A journal does that by
 * itself, also after a crash; this is for running without one. `isPart`: it replies to a post that the
 * same operation has made.
 */
export async function createKnownPost(
  client: Client,
  draft: Draft,
  scope: Scope,
  { operation }: Pick<ToolContext, 'operation'>,
  isPart = false,
): Promise<Posted> {
  if (operation) {
    return createPost(client, draft, scope, isPart ? () => claimsOf(operation.others) : undefined);
  }
  let sent: { readonly at: number; readonly entry: Entry } | undefined;
  const noting: Scope = {
    ...scope,
    get signal() {
      return scope.signal;
    },
    send: (write, options) =>
      scope.send((token) => {
        const at = client.clock.wallNow();
        sent ??= { at, entry: client.sent.add(draft, at) };
        return write(token);
      }, options),
  };
  const others = async (): Promise<Claims> => sent!.entry.others();
  try {
    const posted = await createPost(client, draft, noting, isPart ? others : undefined);
    sent?.entry.made(posted.id);
    return posted;
  } catch (cause) {
    if (!sent) throw cause;
    const { at, entry } = sent;
    if (!isUnknown(cause)) {
      entry.notMade();
      throw cause;
    }
    const found = await readBack(client, draft, at, scope, others).catch(() => undefined);
    if (found?.found !== 'executed') throw cause;
    entry.made(found.data.id);
    return found.data;
  }
}

function readPosted(doc: Doc): Posted {
  const data = docOf(doc['data']);
  const id = idOf(data?.['id']);
  if (id === undefined) throw notPosted(doc);
  const text = unescapeHtml(textOf(data?.['text']) ?? '');
  return fitting([{ id, text, ...partialErrorsIn(doc) }])[0]!;
}

/** X took the request and shows no post. What it says instead need not mean that there is none. */
function notPosted(doc: Doc): FaultError {
  const [problem] = readPartialProblems(doc);
  const { code, message } = (problem && readingOf(faultOfMissing(problem))?.input) ?? {};
  if (code === undefined) return unreadable();
  return raise(
    toolError('outcome_unknown', `X took the post and does not show it. ${message}`, {
      outcome: 'unknown',
      details: { cause_code: code },
    }),
  );
}

function isDuplicate(cause: unknown): cause is FaultError {
  return cause instanceof FaultError && refusalIn(cause.fault) === 'duplicate_content';
}

/** X does not say which post it is a duplicate of, and whoever asked wants to know. */
async function refuseDuplicate(
  client: Client,
  draft: Draft,
  scope: Scope,
  refusal: FaultError,
): Promise<never> {
  const equal = await findEqual(client, draft, scope).catch(() => undefined);
  if (!equal) throw refusal;
  return refuseAs(refusal, equal);
}

function refuseAs(refusal: FaultError, equal: Posted): never {
  const { message } = faultToError(refusal.fault)!.input;
  return raise(
    toolError('upstream_rejected', `${message} It is the post ${equal.id}.`, {
      outcome: 'not_executed',
      details: { status: 403, reason: `duplicate_content:${equal.id}` },
    }),
  );
}

/**
 * Below our own post X may have the same words already: an earlier sending of this part made it, and
 * somebody on the way sent it once more. It is a duplicate of another post only where that is seen: not
 * to see this one proves nothing.
 */
async function findDuplicate(
  client: Client,
  draft: Draft & { readonly replyTo: string },
  scope: Scope,
  claims: () => Promise<Claims>,
  refusal: FaultError,
): Promise<Posted> {
  const seen = await findReply(client, draft, scope, claims).catch(() => undefined);
  if (seen?.found === 'executed') return seen.data;
  const other = seen?.found === 'absent' && (await findWords(client, draft, scope).catch(nobody));
  if (other) return refuseAs(refusal, other);
  const message = `X refused the post as a duplicate. Nobody can say yet whether that is itself, below ${draft.replyTo}.`;
  return raise(
    toolError('outcome_unknown', message, {
      outcome: 'unknown',
      details: { cause_code: 'upstream_rejected' },
    }),
  );
}

const nobody = (): undefined => undefined;
