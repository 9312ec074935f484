import type { OtherOperation, Others } from '@toolkeel/contract';
import {
  arrayOf,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { Post } from '../model.js';
import type { Draft } from './draft.js';
import { matchesDraft } from './match.js';

/** A post that another operation may have created. */
export interface CompetingPost extends Omit<Draft, 'replyTo'> {
  readonly replyTo?: string | undefined;
  /** A later part of a thread, whose parent is not known yet. */
  readonly repliesToAny?: boolean;
  /** When it was sent. Its outcome is unknown. */
  readonly openSince: number;
}

/** Posts that belong to other operations, and posts that may. */
export interface Claims {
  readonly owned: ReadonlySet<string>;
  readonly competing: readonly CompetingPost[];
}

/** Whether another operation may have created this post. */
export function couldBecome({ repliesToAny, ...other }: CompetingPost, post: Post): boolean {
  const answered = post.referenced_tweets?.find(({ type }) => type === 'replied_to')?.id;
  const replyTo = repliesToAny ? answered : other.replyTo;
  return matchesDraft({ ...other, replyTo }, post) && !(repliesToAny && answered === undefined);
}

/** Collects the claims of other operations of the account. */
export async function claimsOf(others: Others): Promise<Claims> {
  const posting = await others(POSTING);
  return {
    owned: new Set(posting.flatMap(({ results }) => results.flatMap(idsIn))),
    competing: posting.flatMap(competingIn),
  };
}

const POSTING = ['x_post_tweet', 'x_reply_to_tweet', 'x_quote_tweet', 'x_post_thread'];

/** An executed operation without all of its ids still competes: its post is on the timeline. */
function competingIn({
  args,
  results,
  openSince,
  executedAt,
}: OtherOperation): readonly CompetingPost[] {
  const drafts = draftsIn(args);
  const ids = new Set(results.flatMap(idsIn));
  const since = openSince ?? (ids.size < drafts.length ? executedAt : undefined);
  if (since === undefined) return [];
  const open = openSince === undefined ? drafts : openOf(drafts, results, ids);
  return open.map((draft) => ({ ...draft, openSince: since }));
}

/**
 * The drafts that may have been sent and have no known id. The parts of a thread are sent one by one, so
 * this is the part after the finished ones, in reply to the last of them.
 */
function openOf(
  drafts: readonly CompetingDraft[],
  results: readonly unknown[],
  ids: ReadonlySet<string>,
): readonly CompetingDraft[] {
  if (drafts.length === 1) return drafts;
  const done = results
    .filter((result) => !isThreadResult(result))
    .map((part) => objectOf(part)?.['id']);
  // If the finished parts cannot be identified, each part may be the unknown one.
  if (done.length !== ids.size || !done.every((id) => stringOf(id) !== undefined)) return drafts;
  const replyTo = stringOf(done.at(-1));
  return drafts
    .slice(done.length, done.length + 1)
    .map(({ repliesToAny: _, ...draft }) => ({ ...draft, replyTo }));
}

/** The ids of posts deleted with x_delete_tweet. */
export async function deletedBy(others: Others): Promise<ReadonlySet<string>> {
  const results = (await others(['x_delete_tweet'])).flatMap((one) => one.results);
  const deleted = results.filter((result) => objectOf(result)?.['deleted'] === true);
  return new Set(deleted.flatMap(idsIn));
}

/** Whether it is the result of a thread, complete or partial, rather than of one of its parts. */
function isThreadResult(result: unknown): boolean {
  const doc = objectOf(result) ?? {};
  return 'tweets' in doc || 'posted' in doc;
}

/** The ids in a result: of a post, a thread or a part of it. */
function idsIn(result: unknown): readonly string[] {
  const doc = objectOf(result) ?? {};
  const parts = [...objectsOf(doc['tweets']), ...objectsOf(doc['posted'])];
  const ids = [doc['id'], doc['root_id'], ...parts.map(({ id }) => id)];
  return ids.map(stringOf).filter((id) => id !== undefined);
}

type CompetingDraft = Omit<CompetingPost, 'openSince'>;

function draftsIn(args: JsonObject): readonly CompetingDraft[] {
  const text = stringOf(args['text']);
  if (text !== undefined) {
    const replyTo = stringOf(args['in_reply_to_id']);
    const quoteOf = stringOf(args['quoted_tweet_id']);
    const mediaIds = stringsIn(args['media_ids']);
    return [{ text, replyTo, quoteOf, mediaIds, poll: pollArgument(args['poll']) }];
  }
  const media = arrayOf(args['media_ids']);
  return stringsIn(args['tweets']).map((part, index) => ({
    text: part,
    mediaIds: stringsIn(media[index]),
    repliesToAny: index > 0,
  }));
}

function pollArgument(value: unknown): Draft['poll'] {
  const poll = objectOf(value);
  const duration = numberOf(poll?.['duration_minutes']);
  return poll && duration !== undefined
    ? { options: stringsIn(poll['options']), duration_minutes: duration }
    : undefined;
}

function stringsIn(value: unknown): readonly string[] {
  return arrayOf(value)
    .map(stringOf)
    .filter((text) => text !== undefined);
}
