import type { OtherOperation, Others } from '@toolkeel/contract';
import { docOf, docsOf, listOf, numberOf, textOf, type Doc } from '../json.js';
import type { Post } from '../provider/model.js';
import type { Draft } from './draft.js';
import { isPostOf } from './match.js';

/** A post that somebody else sent at about the same time. */
export interface Rival extends Omit<Draft, 'replyTo'> {
  readonly replyTo?: string | undefined;
  /** In reply to a post that is not known yet: a later part of a thread. */
  readonly repliesToAny?: boolean;
  /** When, where nobody knows which post it became, or whether. */
  readonly openSince: number;
}

/** Which posts are surely another's, and which may be. */
export interface Claims {
  readonly owned: ReadonlySet<string>;
  readonly rivals: readonly Rival[];
}

/** Whether a post may as well be what became of somebody else's draft. */
export function mayBeOf({ repliesToAny, ...rival }: Rival, post: Post): boolean {
  const answered = post.referenced_tweets?.find(({ type }) => type === 'replied_to')?.id;
  const replyTo = repliesToAny ? answered : rival.replyTo;
  return isPostOf({ ...rival, replyTo }, post) && !(repliesToAny && answered === undefined);
}

/** What other operations lay claim to. */
export async function claimsOf(others: Others): Promise<Claims> {
  const posting = await others(POSTING);
  return {
    owned: new Set(posting.flatMap(({ results }) => results.flatMap(idsIn))),
    rivals: posting.flatMap(rivalsIn),
  };
}

const POSTING = ['x_post_tweet', 'x_reply_to_tweet', 'x_quote_tweet', 'x_post_thread'];

/** One that was carried out and does not tell all of its ids, stays one: its post is among those seen. */
function rivalsIn({ args, results, openSince, executedAt }: OtherOperation): readonly Rival[] {
  const drafts = draftsIn(args);
  const ids = new Set(results.flatMap(idsIn));
  const since = openSince ?? (ids.size < drafts.length ? executedAt : undefined);
  if (since === undefined) return [];
  const open = openSince === undefined ? drafts : openOf(drafts, results, ids);
  return open.map((draft) => ({ ...draft, openSince: since }));
}

/**
 * Those that may have been sent and are not known. The parts of a thread are sent one by one, so that
 * is the one behind those that are done, and it replies to the last of them.
 */
function openOf(
  drafts: readonly Unsent[],
  results: readonly unknown[],
  ids: ReadonlySet<string>,
): readonly Unsent[] {
  if (drafts.length === 1) return drafts;
  const done = results.filter((result) => !isWhole(result)).map((part) => docOf(part)?.['id']);
  // What cannot be told apart may be any of them.
  if (done.length !== ids.size || !done.every((id) => textOf(id) !== undefined)) return drafts;
  const replyTo = textOf(done.at(-1));
  return drafts
    .slice(done.length, done.length + 1)
    .map(({ repliesToAny: _, ...draft }) => ({ ...draft, replyTo }));
}

/** The posts that our own tool has deleted. */
export async function deletedBy(others: Others): Promise<ReadonlySet<string>> {
  const results = (await others(['x_delete_tweet'])).flatMap((one) => one.results);
  const deleted = results.filter((result) => docOf(result)?.['deleted'] === true);
  return new Set(deleted.flatMap(idsIn));
}

/** Whether it is the answer of a thread, whole or in part, and not one of its posts. */
function isWhole(result: unknown): boolean {
  const doc = docOf(result) ?? {};
  return 'tweets' in doc || 'posted' in doc;
}

/** Of an answer, whole or in part, or of one post of a thread. */
function idsIn(result: unknown): readonly string[] {
  const doc = docOf(result) ?? {};
  const parts = [...docsOf(doc['tweets']), ...docsOf(doc['posted'])];
  const ids = [doc['id'], doc['root_id'], ...parts.map(({ id }) => id)];
  return ids.map(textOf).filter((id) => id !== undefined);
}

type Unsent = Omit<Rival, 'openSince'>;

function draftsIn(args: Doc): readonly Unsent[] {
  const text = textOf(args['text']);
  if (text !== undefined) {
    const replyTo = textOf(args['in_reply_to_id']);
    const quoteOf = textOf(args['quoted_tweet_id']);
    const mediaIds = textsIn(args['media_ids']);
    return [{ text, replyTo, quoteOf, mediaIds, poll: pollIn(args['poll']) }];
  }
  const media = listOf(args['media_ids']);
  return textsIn(args['tweets']).map((part, index) => ({
    text: part,
    mediaIds: textsIn(media[index]),
    repliesToAny: index > 0,
  }));
}

function pollIn(value: unknown): Draft['poll'] {
  const poll = docOf(value);
  const duration = numberOf(poll?.['duration_minutes']);
  return poll && duration !== undefined
    ? { options: textsIn(poll['options']), duration_minutes: duration }
    : undefined;
}

function textsIn(value: unknown): readonly string[] {
  return listOf(value)
    .map(textOf)
    .filter((text) => text !== undefined);
}
