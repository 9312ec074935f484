import type { Post } from '../provider/model.js';
import { textPart } from './text-part.js';

/** How lists of tweets are shown, and what one of them costs. */
export const ofTweets = {
  items: 'tweets',
  price: 'post_read',
  show: (post: Post): Post => textPart(post),
} as const;
