import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { listSchema } from '../../provider/model.js';
import { id, maxResults, paginationToken, userId } from './arguments.js';
import { ofLists, ofTweets, ofUsers, partialErrors } from './paging.js';
import { readTraits } from './traits.js';

const listId = id.describe('The id of the list.');
const page = { max_results: maxResults(100, 100), pagination_token: paginationToken };

export const getListSpec = specifyTool({
  ...readTraits,
  name: 'x_get_list',
  title: 'One list',
  description: 'Reads one list of accounts: its name, its owner, its size.',
  input: z.object({ list_id: listId }),
  output: z.strictObject({ list: listSchema, partial_errors: partialErrors }),
});

export const getListTweetsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_list_tweets',
  title: 'Tweets of a list',
  description: 'Lists what the accounts of a list have posted, newest first.',
  input: z.object({
    list_id: listId,
    max_results: maxResults(100, 10),
    pagination_token: paginationToken,
  }),
  ...ofTweets,
});

export const getListMembersSpec = specifyTool({
  ...readTraits,
  name: 'x_get_list_members',
  title: 'Members of a list',
  description: 'Lists the accounts of a list.',
  input: z.object({ list_id: listId, ...page }),
  ...ofUsers,
});

export const getOwnedListsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_owned_lists',
  title: 'Lists of an account',
  description: 'Lists the lists that an account has made.',
  input: z.object({ user_id: userId, ...page }),
  ...ofLists,
});

export const getListMembershipsSpec = specifyTool({
  ...readTraits,
  name: 'x_get_list_memberships',
  title: 'Lists with an account',
  description: 'Lists the lists that an account was put on.',
  input: z.object({ user_id: userId, ...page }),
  ...ofLists,
});
