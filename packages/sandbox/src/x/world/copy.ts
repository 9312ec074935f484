import { relations, type World } from './world.js';

/** Fills an empty world with all that is in another, so that neither can change the other. */
export function copyWorld(from: World, to: World): void {
  for (const user of from.users.values()) to.addUser({ ...user });
  for (const post of [...from.newest()].toReversed()) to.addPost({ ...post });
  for (const [key, media] of from.media) to.media.set(key, { ...media });
  for (const [id, list] of from.lists) to.lists.set(id, { ...list });
  for (const name of relations)
    for (const edge of from[name].edges()) to[name].add(edge.from, edge.to, edge.id, edge.made);
}
