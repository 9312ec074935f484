import type { ToolSpec } from '@toolkeel/contract';
import * as about from './about.js';
import * as engage from './engage.js';
import * as posts from './posts.js';
import * as lists from './read-lists.js';
import * as tweets from './read-tweets.js';
import * as users from './read-users.js';
import { uploadMediaSpec } from './upload-media.js';

/** What the tools are, without anything that could run them. */
export const specs: readonly ToolSpec[] = Object.values({
  ...tweets,
  ...users,
  ...lists,
  ...posts,
  ...engage,
  uploadMediaSpec,
  ...about,
}) as readonly unknown[] as readonly ToolSpec[];
