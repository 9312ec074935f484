import type { Tool } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import * as about from './about.js';
import * as engage from './engage.js';
import * as posts from './posts.js';
import * as lists from './read-lists.js';
import * as tweets from './read-tweets.js';
import * as users from './read-users.js';
import { uploadMedia } from './upload-media.js';

const makers = { ...tweets, ...users, ...lists, ...posts, ...engage, uploadMedia, ...about };

export function createTools(client: Client): readonly Tool[] {
  const tools: readonly unknown[] = Object.values(makers).map((make) => make(client));
  return tools as readonly Tool[];
}
