import { compose } from '../text/compose.js';
import type { Post } from './things.js';
import type { World } from './world.js';

/** A repost is a post of its own, which says whose it repeats. */
export function repostOf(
  world: World,
  original: Post,
  own: Pick<Post, 'id' | 'authorId' | 'made'>,
): Post {
  const author = world.users.get(original.authorId);
  const sent = `RT @${author?.username ?? ''}: ${original.sent}`;
  const { text, entities } = compose(
    { id: original.id, text: sent },
    (name) => world.userNamed(name)?.id,
  );
  return {
    ...own,
    createdAt: own.made.at,
    sent,
    text,
    entities,
    lang: original.lang,
    conversationId: own.id,
    references: [{ type: 'retweeted', id: original.id }],
    mediaKeys: original.mediaKeys,
    replySettings: 'everyone',
    unlisted: { likes: 0, impressions: 0 },
    hidden: false,
  };
}
