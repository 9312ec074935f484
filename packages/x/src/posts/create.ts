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
import { bodyOf, type Draft } from './draft.js';
import { fitting } from './fitting.js';
import type { Entry } from './sent-posts.js';
import { findEqual, readBack, type Posted } from './read-back.js';

/** Sends a post, once. Throws a `FaultError`, or a tool error where that can say more. */
export async function createPost(client: Client, draft: Draft, scope: Scope): Promise<Posted> {
  try {
    const request = { route: routes.createPost, path: ['2', 'tweets'], json: bodyOf(draft) };
    return readPosted((await client.requests.once(request, scope)).doc);
  } catch (cause) {
    if (!isDuplicate(cause)) throw cause;
    return refuseDuplicate(client, draft, scope, cause);
  }
}

/**
 * The same, and where nobody knows whether it was carried out, X is asked. A journal does that by
 * itself, also after a crash; this is for running without one.
 */
export async function createKnownPost(
  client: Client,
  draft: Draft,
  scope: Scope,
  { operation }: Pick<ToolContext, 'operation'>,
): Promise<Posted> {
  if (operation) return createPost(client, draft, scope);
  let sent: { readonly at: number; readonly entry: Entry } | undefined;
  const noting: Scope = {
    ...scope,
    get signal() {
      return scope.signal;
    },
    sending: async () => {
      await scope.sending();
      const at = client.clock.wallNow();
      sent ??= { at, entry: client.sent.add(draft, at) };
    },
  };
  try {
    const posted = await createPost(client, draft, noting);
    sent?.entry.made(posted.id);
    return posted;
  } catch (cause) {
    if (!sent) throw cause;
    const { at, entry } = sent;
    if (!isUnknown(cause)) {
      entry.notMade();
      throw cause;
    }
    const others = () => Promise.resolve(entry.others());
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
  const { message } = faultToError(refusal.fault)!.input;
  if (!equal) throw refusal;
  return raise(
    toolError('upstream_rejected', `${message} It is the post ${equal.id}.`, {
      outcome: 'not_executed',
      details: { status: 403, reason: `duplicate_content:${equal.id}` },
    }),
  );
}
