import { raise, toolError } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { objectOf, stringOf, type CallContext, type JsonObject } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { idOf } from '../api/parse.js';
import { readPartialProblems } from '../api/problem.js';
import { routes } from '../api/routes.js';
import {
  faultOfPartialError,
  partialErrorsIn,
  unreadableResponse,
} from '../api/upstream-problem.js';
import { faultToError, refusalOfFault, toToolError } from '../faults.js';
import { fitToBudget, unescapeHtml } from '../text/strings.js';
import type { Claims } from './claims.js';
import { bodyOf, type Draft } from './draft.js';
import { findEqual, findReply, findSameText, type Posted } from './read-back.js';

/**
 * Sends a post once. Throws a `FaultError`, or a tool error that says more. `claims` is set for a reply to a
 * post of the same operation: X may reject that reply as a duplicate of itself.
 */
export async function createPost(
  client: Client,
  draft: Draft,
  call: CallContext,
  claims?: () => Promise<Claims>,
): Promise<Posted> {
  try {
    const request = { route: routes.createPost, path: ['2', 'tweets'], json: bodyOf(draft) };
    return readPosted((await client.requests.once(request, call)).doc);
  } catch (cause) {
    if (!isDuplicate(cause)) throw cause;
    const { replyTo } = draft;
    return claims && replyTo !== undefined
      ? findDuplicate(client, { ...draft, replyTo }, call, claims, cause)
      : rejectDuplicate(client, draft, call, cause);
  }
}

function readPosted(doc: JsonObject): Posted {
  const data = objectOf(doc['data']);
  const id = idOf(data?.['id']);
  if (id === undefined) throw notPosted(doc);
  const text = unescapeHtml(stringOf(data?.['text']) ?? '');
  return fitToBudget([{ id, text, ...partialErrorsIn(doc) }])[0]!;
}

/** X accepted the request without returning a post: the errors beside it do not prove that none exists. */
function notPosted(doc: JsonObject): FaultError {
  const [problem] = readPartialProblems(doc);
  const { code, message } = (problem && toToolError(faultOfPartialError(problem))?.input) ?? {};
  if (code === undefined) return unreadableResponse();
  return raise(
    toolError('outcome_unknown', `X accepted the post and did not return it. ${message}`, {
      outcome: 'unknown',
      details: { cause_code: code },
    }),
  );
}

function isDuplicate(cause: unknown): cause is FaultError {
  return cause instanceof FaultError && refusalOfFault(cause.fault) === 'duplicate_content';
}

/** Adds the id of the earlier post to the rejection; X does not name it. */
async function rejectDuplicate(
  client: Client,
  draft: Draft,
  call: CallContext,
  refusal: FaultError,
): Promise<never> {
  const equal = await findEqual(client, draft, call).catch(() => undefined);
  if (!equal) throw refusal;
  return rejectAs(refusal, equal);
}

function rejectAs(refusal: FaultError, equal: Posted): never {
  const { message } = faultToError(refusal.fault)!.input;
  return raise(
    toolError('upstream_rejected', `${message} It is a duplicate of ${equal.id}.`, {
      outcome: 'not_executed',
      details: { status: 403, reason: `duplicate_content:${equal.id}` },
    }),
  );
}

/**
 * A part of a thread can be a duplicate of itself, if an intermediary sent the request twice. It counts as a
 * duplicate of another post only if the timeline shows that post: not finding the part proves nothing.
 */
async function findDuplicate(
  client: Client,
  draft: Draft & { readonly replyTo: string },
  call: CallContext,
  claims: () => Promise<Claims>,
  refusal: FaultError,
): Promise<Posted> {
  const seen = await findReply(client, draft, call, claims).catch(() => undefined);
  if (seen?.found === 'executed') return seen.data;
  const other =
    seen?.found === 'absent' && (await findSameText(client, draft, call).catch(() => undefined));
  if (other) return rejectAs(refusal, other);
  const message = `X rejected the post as a duplicate. Whether the duplicate is the same part, in reply to ${draft.replyTo}, is unknown.`;
  return raise(
    toolError('outcome_unknown', message, {
      outcome: 'unknown',
      details: { cause_code: 'upstream_rejected' },
    }),
  );
}
