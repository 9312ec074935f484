import { isToolError, toolError, type Reconcile } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { routes } from '../api/routes.js';
import { postCost, readCost } from '../cost/estimate.js';
import { docOf } from '../json.js';
import { createKnownPost } from '../posts/create.js';
import { checkDraft, type Draft } from '../posts/draft.js';
import { normalizePost, normalizeThread } from '../posts/normalize.js';
import { absenceOf, readBackOf, type Posted } from '../posts/read-back.js';
import { postThread as sendThread } from '../posts/thread.js';
import { scopeOf } from '../scope.js';
import { changed, isGoneSince, notDone } from './relation.js';
import {
  deleteTweetSpec,
  postThreadSpec,
  postTweetSpec,
  quoteTweetSpec,
  replyToTweetSpec,
} from './specs/posts.js';
import { xTool } from './tool.js';

interface PostOptions {
  readonly media_ids?: readonly string[] | undefined;
  readonly reply_settings?: string | undefined;
  readonly made_with_ai?: boolean | undefined;
}

const optionsOf = (args: PostOptions) => ({
  mediaIds: args.media_ids,
  replySettings: args.reply_settings,
  madeWithAi: args.made_with_ai,
});

/** By reading our own posts back. X may show them late. */
function reconcileBy<Args>(
  client: Client,
  draftOf: (args: Args) => Draft,
): Reconcile<Args, Posted> {
  return {
    ...absenceOf(client.config),
    readBack: (operation, context) => {
      const scope = scopeOf(context, client.clock.now(), client.capMs);
      return readBackOf(client, draftOf(operation.args), operation, scope);
    },
  };
}

interface PostArguments extends PostOptions {
  readonly text: string;
}

export const postTweet = (client: Client) => {
  type Args = PostArguments & Pick<Draft, 'poll'>;
  const draftOf = (args: Args): Draft => ({ text: args.text, poll: args.poll, ...optionsOf(args) });
  return xTool(
    postTweetSpec,
    client,
    (args, { scope, context }) => createKnownPost(client, draftOf(args), scope, context),
    {
      check: (args) => checkDraft(draftOf(args), client.config),
      estimateCost: ({ text }) => postCost(client.prices, [text]),
      normalize: normalizePost,
      reconcile: reconcileBy(client, draftOf),
    },
  );
};

export const replyToTweet = (client: Client) => {
  type Args = PostArguments & { readonly in_reply_to_id: string };
  const draftOf = (args: Args): Draft => ({
    text: args.text,
    replyTo: args.in_reply_to_id,
    ...optionsOf(args),
  });
  return xTool(
    replyToTweetSpec,
    client,
    (args, { scope, context }) => createKnownPost(client, draftOf(args), scope, context),
    {
      check: (args) => checkDraft(draftOf(args), client.config),
      estimateCost: ({ text }) => postCost(client.prices, [text], 'summoned_reply'),
      normalize: normalizePost,
      reconcile: reconcileBy(client, draftOf),
    },
  );
};

export const quoteTweet = (client: Client) => {
  type Args = PostArguments & { readonly quoted_tweet_id: string };
  const draftOf = (args: Args): Draft => ({
    text: args.text,
    quoteOf: args.quoted_tweet_id,
    ...optionsOf(args),
  });
  return xTool(
    quoteTweetSpec,
    client,
    (args, { scope, context }) => createKnownPost(client, draftOf(args), scope, context),
    {
      check: (args) => checkDraft(draftOf(args), client.config),
      estimateCost: ({ text }) => postCost(client.prices, [text]),
      normalize: normalizePost,
      reconcile: reconcileBy(client, draftOf),
    },
  );
};

interface ThreadArguments extends Omit<PostOptions, 'media_ids'> {
  readonly tweets: readonly string[];
  readonly media_ids?: readonly (readonly string[])[] | undefined;
}

const draftsOf = ({ tweets, media_ids: media = [], ...args }: ThreadArguments): readonly Draft[] =>
  tweets.map((text, index) => ({ text, ...optionsOf({ ...args, media_ids: media[index] }) }));

export const postThread = (client: Client) =>
  xTool(
    postThreadSpec,
    client,
    async (args, { scope, context }) => {
      const sent = await sendThread(client, draftsOf(args), scope, context);
      return isToolError(sent) ? sent : { root_id: sent[0]?.id ?? '', tweets: sent };
    },
    {
      check: (args) => {
        const { tweets, media_ids: media = [] } = args;
        if (media.slice(tweets.length).some((ids) => ids.length > 0)) {
          return toolError('invalid_input', 'media_ids: has more entries than tweets', {
            details: { field: 'media_ids', reason: 'has more entries than tweets' },
          });
        }
        // All of them before the first one: half a thread helps nobody.
        for (const [index, draft] of draftsOf(args).entries()) {
          checkDraft(draft, client.config, index);
        }
        return undefined;
      },
      estimateCost: ({ tweets }) => postCost(client.prices, tweets),
      normalize: normalizeThread,
    },
  );

export const deleteTweet = (client: Client) =>
  xTool(
    deleteTweetSpec,
    client,
    async ({ tweet_id: id }, { scope }) => {
      const request = { route: routes.deletePost, path: ['2', 'tweets', id] };
      try {
        const { now, beside } = await changed(client, request, 'deleted', scope);
        return now['deleted'] === true ? { id, deleted: true, ...beside } : notDone();
      } catch (cause) {
        if (!isGoneSince(cause)) throw cause;
        // Whether a first try deleted it, or it never was, X does not say.
        const message =
          'X does not have it. An earlier attempt of this call may have deleted it, or it was never there.';
        return toolError('not_found', message, { outcome: 'unknown', details: { id } });
      }
    },
    {
      inverse: {
        of: [postTweetSpec, replyToTweetSpec, quoteTweetSpec, postThreadSpec].map(
          ({ name }) => name,
        ),
        // A thread without its first tweet is gone as a thread.
        matches: ({ tweet_id: id }, { data, steps: [root] }) =>
          [docOf(data)?.['id'], docOf(data)?.['root_id'], docOf(root)?.['id']].includes(id),
      },
      estimateCost: () => readCost(client.prices, 'interaction_delete', 1),
    },
  );
