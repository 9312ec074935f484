import { findEntities } from '../text/entities.js';
import { referenceOf, type Post } from '../world/things.js';
import type { World } from '../world/world.js';

/**
 * Without a contract one answers only those who ask for it: the author has named one in the post, or quotes
 * one there. One's own posts can be answered, which is how threads are made.
 */
export function mayReply(world: World, userId: string, target: Post): boolean {
  if (target.authorId === userId) return true;
  if (target.entities.mentions?.some(({ id }) => id === userId)) return true;
  const quotedId = referenceOf(target, 'quoted');
  return quotedId !== undefined && world.posts.get(quotedId)?.authorId === userId;
}

/** Whom a reply addresses: the author and all whom the post names, but not oneself and nobody twice. */
export function addressees(
  world: World,
  userId: string,
  target: Post,
  text: string,
  excluded: readonly string[] = [],
): string[] {
  const participants = [target.authorId, ...(target.entities.mentions ?? []).map(({ id }) => id)];
  const wanted = new Set(participants.filter((id) => id !== userId && !excluded.includes(id)));
  const already = new Set(leadingNames(text));
  return [...wanted]
    .map((id) => world.users.get(id)?.username ?? '')
    .filter((name) => name !== '' && !already.has(name.toLowerCase()));
}

/** The names that a text begins with. */
function leadingNames(text: string): string[] {
  const names: string[] = [];
  let at = 0;
  for (const { kind, start, end, value } of findEntities(text)) {
    if (kind !== 'mention' || text.slice(at, start).trim() !== '') break;
    names.push(value.toLowerCase());
    at = end;
  }
  return names;
}
