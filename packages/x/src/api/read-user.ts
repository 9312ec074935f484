import { compact, numberOf, textOf, type Doc } from '../json.js';
import type { List, User } from '../provider/model.js';
import { idOf, metricsOf } from './read-post.js';

/** An account of X, or undefined for what is none. */
export function readUser(doc: Doc): User | undefined {
  const id = idOf(doc['id']);
  const username = textOf(doc['username']);
  if (id === undefined || username === undefined) return undefined;
  return compact({
    id,
    username,
    name: textOf(doc['name']),
    created_at: textOf(doc['created_at']),
    description: textOf(doc['description']),
    location: textOf(doc['location']),
    url: textOf(doc['url']),
    profile_image_url: textOf(doc['profile_image_url']),
    pinned_tweet_id: idOf(doc['pinned_tweet_id']) ?? idOf(doc['pinned_post_id']),
    protected: booleanOf(doc['protected']),
    verified: booleanOf(doc['verified']),
    verified_type: textOf(doc['verified_type']),
    public_metrics: metricsOf(doc['public_metrics']),
  });
}

/** A list of accounts, or undefined for what is none. */
export function readList(doc: Doc): List | undefined {
  const id = idOf(doc['id']);
  const name = textOf(doc['name']);
  if (id === undefined || name === undefined) return undefined;
  return compact({
    id,
    name,
    description: textOf(doc['description']),
    owner_id: idOf(doc['owner_id']),
    private: booleanOf(doc['private']),
    created_at: textOf(doc['created_at']),
    follower_count: numberOf(doc['follower_count']),
    member_count: numberOf(doc['member_count']),
  });
}

function booleanOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}
