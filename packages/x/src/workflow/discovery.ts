import { raise, toolError } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { itemCost } from '../cost.js';
import { aboutTool, xTool } from '../tools/tool.js';
import { openWorkflow } from './access.js';
import {
  findReplyOpportunitiesSpec,
  getDiscoveryFeedSpec,
  listTargetAccountsSpec,
  listUnrepliedTweetsSpec,
  scoreTweetSpec,
} from './assist-specs.js';
import {
  isOpen,
  openCandidates,
  ownPosts,
  rank,
  rememberCandidates,
  repliedTweets,
} from './candidates.js';
import { replyFactsOf } from './context.js';
import { summarizeAuthor } from './recommend.js';
import { MAX_SCORE, opportunityOf, scoreTweet } from './score.js';

export const discoveryTools = (client: Client) => {
  const { workflow: config } = client.config;
  return [
    aboutTool(scoreTweetSpec, client, async (args) => {
      const { keywords, minScore: threshold } = config;
      const scored = scoreTweet(
        {
          text: args.text,
          authorFollowers: args.author_followers,
          likes: args.likes,
          retweets: args.retweets,
          replies: args.replies,
          createdAt: args.created_at === undefined ? undefined : Date.parse(args.created_at),
          hasMedia: args.has_media,
          isQuote: args.is_quote,
        },
        { keywords, now: client.clock.wallNow() },
      );
      return {
        score: scored.total,
        max: MAX_SCORE,
        threshold,
        action: opportunityOf(scored, threshold),
        matched_keywords: scored.matchedKeywords,
        factors: scored.factors,
      };
    }),

    xTool(
      findReplyOpportunitiesSpec,
      client,
      async (args, { call }) => {
        const { limit, max_results: maxResults, since_id: sinceId } = args;
        const { min_score: minScore = config.minScore } = args;
        const query = args.query ?? queryOf(config.keywords);
        const workflow = await openWorkflow(client, call);
        // Before the search, which X charges for: a broken database would lose its result.
        const repliedTo = repliedTweets(await ownPosts(client, workflow, call));
        const { items } = await client.provider.searchPosts({ query, sinceId, maxResults }, call);
        const open = items.filter((post) => isOpen(client, workflow.account, post));
        const found = await rememberCandidates(workflow, open);
        return {
          query,
          searched: items.length,
          threshold: minScore,
          candidates: rank(client, found, repliedTo, { minScore, limit }),
        };
      },
      {
        estimateCost: ({ max_results: most }) => itemCost(client.prices, 'post_read', most),
      },
    ),

    xTool(getDiscoveryFeedSpec, client, async ({ min_score: minScore, limit }, { call }) => {
      const workflow = await openWorkflow(client, call);
      const repliedTo = repliedTweets(await ownPosts(client, workflow, call));
      const found = await openCandidates(client, workflow);
      return {
        threshold: minScore,
        candidates: rank(client, found, repliedTo, { minScore, limit }),
      };
    }),

    xTool(listUnrepliedTweetsSpec, client, async (args, { call }) => {
      const { threshold: minScore = config.minScore, limit } = args;
      const workflow = await openWorkflow(client, call);
      const repliedTo = repliedTweets(await ownPosts(client, workflow, call));
      const open = await openCandidates(client, workflow);
      const found = open.filter(({ id }) => !repliedTo.has(id));
      return {
        threshold: minScore,
        candidates: rank(client, found, repliedTo, { minScore, limit }),
      };
    }),

    xTool(listTargetAccountsSpec, client, async (_, { call }) => {
      const workflow = await openWorkflow(client, call);
      const posts = await ownPosts(client, workflow, call);
      const now = await workflow.records.now();
      const accounts = config.targetAccounts.map((username) => {
        const replies = replyFactsOf(posts, username);
        const perAuthorLimit = config.maxRepliesPerAuthorPerDay;
        const { interactions, response } = summarizeAuthor(replies, { now, perAuthorLimit });
        return { username, interactions, response };
      });
      return { accounts };
    }),
  ];
};

/** The longest query that X accepts from every account. */
const MAX_QUERY = 512;

/** A search for any of the keywords; as many of them as fit. */
function queryOf(keywords: readonly string[]): string {
  const terms = keywords.map((keyword) => `"${keyword.replaceAll('"', ' ').trim()}"`);
  const endOf = (count: number): string => `(${terms.slice(0, count).join(' OR ')}) -is:retweet`;
  let count = terms.length;
  while (count > 0 && endOf(count).length > MAX_QUERY) count -= 1;
  if (count > 0) return endOf(count);
  const reason = 'is required, because packs.x.workflow.keywords is empty';
  return raise(
    toolError('invalid_input', `query: ${reason}`, { details: { field: 'query', reason } }),
  );
}
