import type { Json, JsonObject } from '../../json.js';
import type { List } from '../world/things.js';
import { instant } from './instant.js';
import type { Shape } from './shape.js';
import type { View } from './view.js';

type Field = (list: List, view: View) => Json;

const fields: Readonly<Record<string, Field>> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  created_at: ({ createdAt }) => instant(createdAt),
  description: ({ description }) => description,
  owner_id: ({ ownerId }) => ownerId,
  private: (list) => list.private,
  follower_count: ({ id }, { world }) => world.followedLists.to(id).length,
  member_count: ({ id }, { world }) => world.members.of(id).length,
};

export function presentList(list: List, view: View, shape: Shape): JsonObject {
  const wanted = new Set(shape.list);
  if (shape.expansions.has('owner_id')) wanted.add('owner_id');
  return Object.fromEntries(
    [...wanted].flatMap((name) => {
      const value = fields[name]?.(list, view);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
