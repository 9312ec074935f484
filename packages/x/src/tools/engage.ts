import {
  raise,
  toolError,
  type ErrorCode,
  type NoSchema,
  type ObjectSchema,
  type Schema,
  type ToolSpec,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { CallContext, JsonObject } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { retryUnreadable } from '../api/requests.js';
import { routes, type Route } from '../api/routes.js';
import type { ApiRequest } from '../api/session.js';
import { dataIn, partialErrorsIn, unreadableResponse } from '../api/upstream-problem.js';
import type { PriceName } from '../config.js';
import { itemCost } from '../cost.js';
import { refusalOfFault } from '../faults.js';
import {
  bookmarkTweetSpec,
  followUserSpec,
  likeTweetSpec,
  retweetSpec,
  unbookmarkTweetSpec,
  unfollowUserSpec,
  unlikeTweetSpec,
  unretweetSpec,
} from './specs/write.js';
import { xTool } from './tool.js';

export const engageTools = (client: Client) => [
  ...tweetRelation(client, {
    spec: likeTweetSpec,
    inverse: unlikeTweetSpec,
    create: { route: routes.like, set: 'likes', flag: 'liked' },
    remove: { route: routes.unlike, set: 'likes', flag: 'liked' },
  }),
  ...tweetRelation(client, {
    spec: retweetSpec,
    inverse: unretweetSpec,
    create: { route: routes.repost, set: 'retweets', flag: 'retweeted' },
    remove: { route: routes.unrepost, set: 'retweets', flag: 'retweeted' },
  }),
  ...tweetRelation(client, {
    spec: bookmarkTweetSpec,
    inverse: unbookmarkTweetSpec,
    create: { route: routes.bookmark, set: 'bookmarks', flag: 'bookmarked' },
    remove: { route: routes.unbookmark, set: 'bookmarks', flag: 'bookmarked' },
    price: 'bookmark',
  }),
  xTool(
    followUserSpec,
    client,
    async ({ target_user_id: id }, { call }) => {
      const relation = { route: routes.follow, set: 'following', flag: 'following' };
      const { state, warnings } = await addTo(client, relation, { target_user_id: id }, call);
      const following = state['following'] === true;
      // A protected account must accept the request first.
      const pending = state['pending_follow'] === true;
      if (!following && !pending) return notDone();
      return { target_user_id: id, following, pending_follow: pending, ...warnings };
    },
    { estimateCost: () => itemCost(client.prices, 'interaction_create', 1) },
  ),
  xTool(
    unfollowUserSpec,
    client,
    async ({ target_user_id: id }, { call }) => {
      const relation = { route: routes.unfollow, set: 'following', flag: 'following' };
      const warnings = await removeFrom(client, relation, id, call);
      return { target_user_id: id, following: false, ...warnings };
    },
    {
      inverse: { of: followUserSpec.name },
      estimateCost: () => itemCost(client.prices, 'interaction_delete', 1),
    },
  ),
];

/** A set that belongs to the account: its likes, its bookmarks. */
interface Relation {
  readonly route: Route;
  /** The path segment below the account. */
  readonly set: string;
  /** The boolean member of the response that says whether the item is in the set. */
  readonly flag: string;
}

type RelationSpec<Out extends Schema> = ToolSpec<ObjectSchema, Out, ErrorCode, NoSchema, NoSchema>;

/** The tool that adds a tweet to a set, and its inverse. */
function tweetRelation<Out extends Schema>(
  client: Client,
  {
    spec,
    inverse,
    create,
    remove,
    price = 'interaction_create',
  }: {
    readonly spec: RelationSpec<Out>;
    readonly inverse: RelationSpec<Out>;
    readonly create: Relation;
    readonly remove: Relation;
    readonly price?: PriceName;
  },
) {
  const idIn = (args: unknown): string => (args as { readonly tweet_id: string }).tweet_id;
  return [
    xTool(
      spec,
      client,
      async (args, { call }) => {
        const tweet_id = idIn(args);
        const { state, warnings } = await addTo(client, create, { tweet_id }, call);
        const isDone = state[create.flag] === true;
        return (isDone ? { tweet_id, [create.flag]: true, ...warnings } : notDone()) as never;
      },
      { estimateCost: () => itemCost(client.prices, price, 1) },
    ),
    xTool(
      inverse,
      client,
      async (args, { call }) => {
        const tweet_id = idIn(args);
        const warnings = await removeFrom(client, remove, tweet_id, call);
        return { tweet_id, [remove.flag]: false, ...warnings } as never;
      },
      {
        inverse: { of: spec.name },
        estimateCost: () => itemCost(client.prices, 'interaction_delete', 1),
      },
    ),
  ];
}

/** Adds an item to a set of the account. An item that is already in the set is a success. */
async function addTo(
  client: Client,
  { route, set, flag }: Relation,
  json: Readonly<Record<string, string>>,
  call: CallContext,
): Promise<Changed> {
  const id = await client.account.userId(call);
  try {
    return await change(client, { route, path: ['2', 'users', id, set], json }, flag, call);
  } catch (cause) {
    if (refusalOf(cause) === 'already_done') return { state: { [flag]: true }, warnings: {} };
    throw cause;
  }
}

/** Removes an item from a set. After a retry, an item that is not found counts as removed. */
async function removeFrom(
  client: Client,
  { route, set, flag }: Relation,
  item: string,
  call: CallContext,
): Promise<Warnings> {
  const id = await client.account.userId(call);
  try {
    const request = { route, path: ['2', 'users', id, set, item] };
    const { state, warnings } = await change(client, request, flag, call);
    return state[flag] === true ? raise(notDone()) : warnings;
  } catch (cause) {
    if (isNotFoundAfterRetry(cause)) return {};
    throw cause;
  }
}

/** X answered with a success status and reports that nothing changed. */
export const notDone = () =>
  toolError('upstream_rejected', 'X accepted the request and did not execute it.', {
    outcome: 'not_executed',
    details: { reason: 'not_done' },
  });

type Warnings = ReturnType<typeof partialErrorsIn>;

/** The state that X reports after a change, and the errors beside it. */
interface Changed {
  readonly state: JsonObject;
  readonly warnings: Warnings;
}

/** Sends an idempotent change and returns the state that X reports. */
export function change(
  { requests }: Client,
  request: ApiRequest,
  flag: string,
  call: CallContext,
): Promise<Changed> {
  return retryUnreadable(call, async () => {
    const { doc } = await requests.idempotent(request, call);
    const state = dataIn(doc, 'required');
    if (typeof state[flag] !== 'boolean') throw unreadableResponse();
    const { partial_errors: all } = partialErrorsIn(doc);
    return { state, warnings: all ? { partial_errors: all.slice(0, MAX_WARNINGS) } : {} };
  });
}

/** More could exceed the response budget. */
const MAX_WARNINGS = 20;

function refusalOf(cause: unknown) {
  return cause instanceof FaultError ? refusalOfFault(cause.fault) : undefined;
}

/** Not found, possibly because an earlier attempt of the same call removed it. */
export function isNotFoundAfterRetry(cause: unknown): boolean {
  return (
    cause instanceof FaultError && cause.fault.sent === 'maybe' && refusalOf(cause) === 'not_found'
  );
}
