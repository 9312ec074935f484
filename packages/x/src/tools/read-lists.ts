import { answer } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { listTool } from './list-tool.js';
import { ofTweets } from './of-tweets.js';
import { shortWindow } from './page-of.js';
import {
  getListMembershipsSpec,
  getListMembersSpec,
  getListSpec,
  getListTweetsSpec,
  getOwnedListsSpec,
} from './specs/read-lists.js';
import { xTool } from './tool.js';

export const getList = (client: Client) =>
  xTool(getListSpec, client, async ({ list_id: id }, { scope }) => {
    const { item, partialErrors, limits } = await client.provider.getList({ id }, scope);
    const data = { list: item, partial_errors: partialErrors };
    return answer(data, { rateLimit: shortWindow(limits) });
  });

export const getListTweets = (client: Client) =>
  listTool(getListTweetsSpec, client, {
    ...ofTweets,
    fetch: ({ list_id: id }, page, scope) => client.provider.getListPosts({ id, ...page }, scope),
  });

export const getListMembers = (client: Client) =>
  listTool(getListMembersSpec, client, {
    items: 'users',
    price: 'user_read',
    fetch: ({ list_id: id }, page, scope) => client.provider.getListMembers({ id, ...page }, scope),
  });

export const getOwnedLists = (client: Client) =>
  listTool(getOwnedListsSpec, client, {
    items: 'lists',
    fetch: ({ user_id: id }, page, scope) => client.provider.getOwnedLists({ id, ...page }, scope),
  });

export const getListMemberships = (client: Client) =>
  listTool(getListMembershipsSpec, client, {
    items: 'lists',
    fetch: ({ user_id: id }, page, scope) =>
      client.provider.getListMemberships({ id, ...page }, scope),
  });
