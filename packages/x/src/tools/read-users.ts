import { answer } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { readCost } from '../cost/estimate.js';
import type { User } from '../provider/model.js';
import type { Found } from '../provider/provider.js';
import { listTool } from './list-tool.js';
import { shortWindow } from './page-of.js';
import {
  getFollowersSpec,
  getFollowingSpec,
  getMeSpec,
  getTweetLikingUsersSpec,
  getUserByIdSpec,
  getUserByUsernameSpec,
  getUsersByIdsSpec,
} from './specs/read-users.js';
import { xTool } from './tool.js';

const userAnswer = ({ item, partialErrors, limits }: Found<User>) =>
  answer({ user: item, partial_errors: partialErrors }, { rateLimit: shortWindow(limits) });

export const getMe = (client: Client) =>
  xTool(
    getMeSpec,
    client,
    async (_, { scope }) => userAnswer(await client.provider.getMe(undefined, scope)),
    { estimateCost: () => readCost(client.prices, 'user_read', 1) },
  );

export const getUserByUsername = (client: Client) =>
  xTool(
    getUserByUsernameSpec,
    client,
    async (args, { scope }) => {
      const username = args.username.replace(/^@/, '');
      return userAnswer(await client.provider.getUserByUsername({ username }, scope));
    },
    { estimateCost: () => readCost(client.prices, 'user_read', 1) },
  );

export const getUserById = (client: Client) =>
  xTool(
    getUserByIdSpec,
    client,
    async ({ user_id: id }, { scope }) =>
      userAnswer(await client.provider.getUserById({ id }, scope)),
    { estimateCost: () => readCost(client.prices, 'user_read', 1) },
  );

export const getUsersByIds = (client: Client) =>
  xTool(
    getUsersByIdsSpec,
    client,
    async ({ user_ids: ids }, { scope }) => {
      const { items, partialErrors, limits } = await client.provider.getUsersByIds({ ids }, scope);
      const data = { users: items, partial_errors: partialErrors };
      return answer(data, { rateLimit: shortWindow(limits) });
    },
    { estimateCost: ({ user_ids: ids }) => readCost(client.prices, 'user_read', ids.length) },
  );

export const getFollowers = (client: Client) =>
  listTool(getFollowersSpec, client, {
    items: 'users',
    price: 'follow_read',
    fetch: ({ user_id: id }, page, scope) => client.provider.getFollowers({ id, ...page }, scope),
  });

export const getFollowing = (client: Client) =>
  listTool(getFollowingSpec, client, {
    items: 'users',
    price: 'follow_read',
    fetch: ({ user_id: id }, page, scope) => client.provider.getFollowing({ id, ...page }, scope),
  });

export const getTweetLikingUsers = (client: Client) =>
  listTool(getTweetLikingUsersSpec, client, {
    items: 'users',
    price: 'user_read',
    fetch: ({ tweet_id: id }, page, scope) =>
      client.provider.getLikingUsers({ id, ...page }, scope),
  });
