import {
  isToolError,
  toolError,
  type HardRuleContext,
  type HardRuleVerdict,
  type Reconcile,
} from '@toolkeel/contract';
import { callContextOf, objectOf } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { routes } from '../api/routes.js';
import type { PriceName } from '../config.js';
import { itemCost, postCost } from '../cost.js';
import { createPost } from '../posts/create.js';
import { checkDraft, normalizePost, normalizeThread, type Draft } from '../posts/draft.js';
import { absenceOf, readBackOf, type Posted } from '../posts/read-back.js';
import { postThread } from '../posts/thread.js';
import { change, isNotFoundAfterRetry, notDone } from './engage.js';
import {
  deleteTweetSpec,
  postThreadSpec,
  postTweetSpec,
  quoteTweetSpec,
  replyToTweetSpec,
} from './specs/write.js';
import { authorRules, linkRules, textRules } from '../workflow/hard-rules.js';
import { xTool } from './tool.js';

export const postTools = (client: Client) => [
  xTool(
    postTweetSpec,
    client,
    (args, { call }) => createPost(client, tweetDraft(args), call),
    postBehaviour(client, tweetDraft),
  ),
  xTool(
    replyToTweetSpec,
    client,
    (args, { call }) => createPost(client, replyDraft(args), call),
    postBehaviour(client, replyDraft, 'summoned_reply'),
  ),
  xTool(
    quoteTweetSpec,
    client,
    (args, { call }) => createPost(client, quoteDraft(args), call),
    postBehaviour(client, quoteDraft),
  ),
  threadTool(client),
  deleteTool(client),
];

interface PostOptions {
  readonly media_ids?: readonly string[] | undefined;
  readonly reply_settings?: string | undefined;
  readonly made_with_ai?: boolean | undefined;
}

interface PostArguments extends PostOptions {
  readonly text: string;
}

const draftOf = (args: PostArguments): Draft => ({
  text: args.text,
  mediaIds: args.media_ids,
  replySettings: args.reply_settings,
  madeWithAi: args.made_with_ai,
});

const tweetDraft = (args: PostArguments & Pick<Draft, 'poll'>): Draft => ({
  ...draftOf(args),
  poll: args.poll,
});

const replyDraft = (args: PostArguments & { readonly in_reply_to_id: string }): Draft => ({
  ...draftOf(args),
  replyTo: args.in_reply_to_id,
});

const quoteDraft = (args: PostArguments & { readonly quoted_tweet_id: string }): Draft => ({
  ...draftOf(args),
  quoteOf: args.quoted_tweet_id,
});

/** What the tools that create one post have in common. */
function postBehaviour<Args extends PostArguments>(
  client: Client,
  draft: (args: Args) => Draft,
  price?: PriceName,
) {
  const reconcile: Reconcile<Args, Posted> = {
    ...absenceOf(client.config),
    readBack: (operation, context) => {
      const call = callContextOf(context, client.clock.now(), client.capMs);
      return readBackOf(client, draft(operation.args), operation, call);
    },
  };
  return {
    check: (args: Args) => checkDraft(draft(args), client.config),
    estimateCost: ({ text }: Args) => postCost(client.prices, [text], price),
    normalize: normalizePost,
    reconcile,
    hardRules: (args: Args, context: HardRuleContext) => postRules(client, [draft(args)], context),
  };
}

async function postRules(
  client: Client,
  drafts: readonly Draft[],
  context: HardRuleContext,
): Promise<HardRuleVerdict> {
  const texts = drafts.flatMap(({ text, poll }) => [text, ...(poll?.options ?? [])]);
  const verdict = textRules(texts, client.config.workflow);
  const { replyTo, quoteOf } = drafts[0] ?? {};
  const tweetId = replyTo ?? quoteOf;
  if (verdict.denied) return verdict;
  const linked = await linkRules(client, texts, context);
  if (linked.denied || tweetId === undefined) return linked;
  return authorRules(client, { tweetId, isReply: replyTo !== undefined }, context);
}

interface ThreadArguments extends Omit<PostOptions, 'media_ids'> {
  readonly tweets: readonly string[];
  readonly media_ids?: readonly (readonly string[])[] | undefined;
}

const threadDrafts = ({ tweets, media_ids: media = [], ...options }: ThreadArguments) =>
  tweets.map((text, index) => draftOf({ ...options, text, media_ids: media[index] }));

const threadTool = (client: Client) =>
  xTool(
    postThreadSpec,
    client,
    async (args, { call, context }) => {
      const sent = await postThread(client, threadDrafts(args), call, context);
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
        // Checks every part before the first is sent, to avoid an incomplete thread.
        for (const [index, draft] of threadDrafts(args).entries()) {
          checkDraft(draft, client.config, index);
        }
        return undefined;
      },
      estimateCost: ({ tweets }) => postCost(client.prices, tweets),
      normalize: normalizeThread,
      hardRules: (args, context) => postRules(client, threadDrafts(args), context),
    },
  );

const deleteTool = (client: Client) =>
  xTool(
    deleteTweetSpec,
    client,
    async ({ tweet_id: id }, { call }) => {
      const request = { route: routes.deletePost, path: ['2', 'tweets', id] };
      try {
        const { state, warnings } = await change(client, request, 'deleted', call);
        return state['deleted'] === true ? { id, deleted: true, ...warnings } : notDone();
      } catch (cause) {
        if (!isNotFoundAfterRetry(cause)) throw cause;
        const message =
          'X does not have the tweet. An earlier attempt of this call may have deleted it, or it never existed.';
        return toolError('not_found', message, { outcome: 'unknown', details: { id } });
      }
    },
    {
      inverse: {
        of: [postTweetSpec, replyToTweetSpec, quoteTweetSpec, postThreadSpec].map(
          ({ name }) => name,
        ),
        // Deleting the first tweet of a thread deletes the thread.
        matches: ({ tweet_id: id }, { data, steps: [root] }) =>
          [objectOf(data)?.['id'], objectOf(data)?.['root_id'], objectOf(root)?.['id']].includes(
            id,
          ),
      },
      estimateCost: () => itemCost(client.prices, 'interaction_delete', 1),
    },
  );
