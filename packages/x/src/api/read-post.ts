import { compact, docOf, docsOf, listOf, memberOf, numberOf, textOf, type Doc } from '../json.js';
import type { Post } from '../provider/model.js';
import { unescapeHtml } from '../text/html-entities.js';
import { spelled } from './fields.js';

const ID = /^[0-9]{1,19}$/;
const METRIC = /^[a-z][a-z_]{0,39}$/;

export function idOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text !== undefined && ID.test(text) ? text : undefined;
}

/** What stands beside the posts of an answer: their authors, their media and their polls. */
export interface Includes {
  readonly users: ReadonlyMap<string, Doc>;
  readonly media: ReadonlyMap<string, Doc>;
  readonly polls: ReadonlyMap<string, Doc>;
}

export function readIncludes(doc: Doc): Includes {
  const includes = docOf(doc['includes']);
  const byKey = (name: string, key: string): ReadonlyMap<string, Doc> =>
    new Map(
      docsOf(memberOf(includes, name)).flatMap((one) => {
        const value = textOf(one[key]);
        return value === undefined ? [] : [[value, one]];
      }),
    );
  return {
    users: byKey('users', 'id'),
    media: byKey('media', 'media_key'),
    polls: byKey('polls', 'id'),
  };
}

/** A post of X, or undefined for what is none. */
export function readPost(doc: Doc, includes: Includes): Post | undefined {
  const id = idOf(doc['id']);
  const text = fullText(doc);
  if (id === undefined || text === undefined) return undefined;
  const authorId = idOf(doc['author_id']);
  const author = authorId === undefined ? undefined : includes.users.get(authorId);
  return compact({
    id,
    text: unescapeHtml(text),
    author_id: authorId,
    author_username: textOf(author?.['username']),
    created_at: textOf(doc['created_at']),
    conversation_id: idOf(doc['conversation_id']),
    in_reply_to_user_id: idOf(doc['in_reply_to_user_id']),
    lang: textOf(doc['lang']),
    reply_settings: textOf(doc['reply_settings']),
    referenced_tweets: some(referencesOf(doc)),
    urls: some(urlsOf(doc)),
    media: some(mediaOf(doc, includes)),
    poll: pollOf(doc, includes),
    public_metrics: metricsOf(doc['public_metrics']),
  }) as Post;
}

/** A long post has its first words in `text` and all of them in a note. */
function fullText(doc: Doc): string | undefined {
  const note = docOf(memberOf(doc, ...spelled.note));
  return textOf(note?.['text']) ?? textOf(doc['text']);
}

function referencesOf(doc: Doc) {
  return docsOf(memberOf(doc, ...spelled.referenced)).flatMap((reference) => {
    const type = textOf(reference['type']);
    const id = idOf(reference['id']);
    return type !== undefined && id !== undefined ? [{ type, id }] : [];
  });
}

/** The links of a post, of its note too: what X shows, and what was written. */
function urlsOf(doc: Doc) {
  const note = docOf(memberOf(doc, ...spelled.note));
  const places = [docOf(doc['entities']), docOf(note?.['entities'])];
  const all = places.flatMap((entities) =>
    docsOf(entities?.['urls']).flatMap((one) => {
      const url = textOf(one['url']);
      const expanded = textOf(one['expanded_url']);
      return url !== undefined && expanded !== undefined ? [{ url, expanded_url: expanded }] : [];
    }),
  );
  return [...new Map(all.map((one) => [one.url, one])).values()];
}

function mediaOf(doc: Doc, { media }: Includes) {
  const keys = docOf(doc['attachments'])?.['media_keys'];
  return listOf(keys).flatMap((key) => {
    const mediaKey = textOf(key);
    if (mediaKey === undefined) return [];
    const one = media.get(mediaKey);
    return [
      compact({
        media_key: mediaKey,
        type: textOf(one?.['type']),
        url: textOf(one?.['url']),
        alt_text: textOf(one?.['alt_text']),
      }),
    ];
  });
}

/** A post has one at most. X may name it and not show it. */
function pollOf(doc: Doc, { polls }: Includes) {
  const [id] = listOf(docOf(doc['attachments'])?.['poll_ids']).map(textOf);
  if (id === undefined) return undefined;
  const poll = polls.get(id);
  const options = docsOf(poll?.['options']).flatMap(({ label, votes }) => {
    const text = textOf(label);
    return text === undefined
      ? []
      : [compact({ label: unescapeHtml(text), votes: numberOf(votes) })];
  });
  return compact({
    options,
    duration_minutes: numberOf(poll?.['duration_minutes']),
    voting_status: textOf(poll?.['voting_status']),
  });
}

export function metricsOf(value: unknown): Record<string, number> | undefined {
  const entries = Object.entries(docOf(value) ?? {}).flatMap(([name, given]) => {
    const number = numberOf(given);
    return number !== undefined && METRIC.test(name) ? [[name, number] as const] : [];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function some<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
