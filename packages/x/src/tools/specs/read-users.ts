import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { userSchema } from '../../provider/model.js';
import { id, maxResults, paginationToken, tweetId, userId } from './arguments.js';
import { ofUsers, partialErrors, usersOutput } from './paging.js';
import { readTraits } from './traits.js';

const userOutput = z.strictObject({ user: userSchema, partial_errors: partialErrors });

const pageOfUsers = {
  user_id: userId,
  max_results: maxResults(1000, 100),
  pagination_token: paginationToken,
};

export const getMeSpec = specifyTool({
  ...readTraits,
  name: 'x_get_me',
  title: 'Our account',
  description: 'Reads the profile of the account that is logged in.',
  input: z.object({}),
  output: userOutput,
});

export const getUserByUsernameSpec = specifyTool({
  ...readTraits,
  name: 'x_get_user_by_username',
  title: 'Account by name',
  description: 'Reads the profile of an account by its name, with or without @.',
  input: z.object({
    username: z.string().regex(/^@?\w{1,15}$/, 'must be 1 to 15 letters, digits or _'),
  }),
  output: userOutput,
});

export const getUserByIdSpec = specifyTool({
  ...readTraits,
  name: 'x_get_user_by_id',
  title: 'Account by id',
  description: 'Reads the profile of an account by its id.',
  input: z.object({ user_id: userId }),
  output: userOutput,
});

export const getUsersByIdsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_users_by_ids',
  title: 'Accounts by id',
  description:
    'Reads the profiles of up to 100 accounts at once. Those that X does not have are told.',
  input: z.object({ user_ids: z.array(id).min(1).max(100) }),
  output: usersOutput,
});

export const getFollowersSpec = specifyTool({
  ...readTraits,
  name: 'x_get_followers',
  title: 'Followers',
  description: 'Lists the accounts that follow an account.',
  input: z.object(pageOfUsers),
  ...ofUsers,
});

export const getFollowingSpec = specifyTool({
  ...readTraits,
  name: 'x_get_following',
  title: 'Following',
  description: 'Lists the accounts that an account follows.',
  input: z.object(pageOfUsers),
  ...ofUsers,
});

export const getTweetLikingUsersSpec = specifyTool({
  ...readTraits,
  name: 'x_get_tweet_liking_users',
  title: 'Who liked a tweet',
  description: 'Lists the accounts that have liked a tweet.',
  input: z.object({
    tweet_id: tweetId,
    max_results: maxResults(100, 100),
    pagination_token: paginationToken,
  }),
  ...ofUsers,
});
