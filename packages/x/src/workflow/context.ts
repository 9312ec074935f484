import type { PackRecord } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { oneLine } from '../text/strings.js';
import { xTool } from '../tools/tool.js';
import {
  getAuthorContextSpec,
  recommendEngagementSpec,
  topicPerformanceSpec,
} from './assist-specs.js';
import { listCandidates, ownPosts, withContext, type Candidate } from './candidates.js';
import { isBlocked } from './hard-rules.js';
import type { MadePost } from './history.js';
import {
  recommendEngagement,
  summarizeAuthor,
  summarizeTopics,
  type ReplyFacts,
  type TopicPost,
} from './recommend.js';
import { matchKeywords, rounded } from './score.js';

const DAY_MS = 86_400_000;
const HISTORY = 20;
const TOPICS = 10;
const SHOWN_TEXT = 200;

export const contextTools = (client: Client) => {
  const { workflow: config } = client.config;
  return [
    xTool(getAuthorContextSpec, client, ({ identifier }, { call }) =>
      withContext(client, call, 'context_error', 'The records of the author', async (workflow) => {
        const posts = await ownPosts(client, workflow, call);
        const replies = repliesTo(posts, identifier);
        const candidates = (await listCandidates(workflow)).filter(({ data }) =>
          isAuthor({ id: data.authorId, username: data.authorUsername }, identifier),
        );
        const textOf = new Map(candidates.map(({ id, data }) => [id, data.text]));
        const now = await workflow.records.now();
        const perAuthorLimit = config.maxRepliesPerAuthorPerDay;
        return {
          author: authorIn(replies, candidates),
          ...summarizeAuthor(replies.map(factsOfReply), { now, perAuthorLimit }),
          topics: affinity(candidates, config.keywords),
          history: replies.slice(0, HISTORY).map(({ id, at, data }) => {
            const target = textOf.get(data.target_id ?? '');
            return {
              tweet_id: id,
              at: new Date(at).toISOString(),
              text: oneLine(data.text, SHOWN_TEXT),
              ...(data.target_id !== undefined && { in_reply_to_id: data.target_id }),
              ...(target !== undefined && { in_reply_to_text: oneLine(target, SHOWN_TEXT) }),
              performance:
                data.performance?.score === undefined ? null : rounded(data.performance.score),
            };
          }),
        };
      }),
    ),

    xTool(recommendEngagementSpec, client, (args, { call }) => {
      const { author_username: author, tweet_text: text, campaign_objective: objective } = args;
      const what = 'The records that a recommendation needs';
      return withContext(client, call, 'recommendation_error', what, async (workflow) => {
        // The hard rules count deleted replies too, which their readers may have seen.
        const posts = await ownPosts(client, workflow, call, { deleted: true });
        const now = await workflow.records.now();
        const perAuthorLimit = config.maxRepliesPerAuthorPerDay;
        const replies = posts.filter(({ data }) => data.kind === 'reply');
        return recommendEngagement({
          text,
          objective,
          keywords: config.keywords,
          author: summarizeAuthor(replyFactsOf(posts, author), { now, perAuthorLimit }),
          perAuthorLimit,
          repliesToday: replies.filter(({ at }) => at > now - DAY_MS).length,
          repliesPerDay: config.maxRepliesPerDay,
          isBlocked: isBlocked({ id: author, username: nameOf(author) }, config),
          needsApproval: workflow.mode === 'composer',
        });
      });
    }),

    xTool(topicPerformanceSpec, client, ({ lookback_days: days }, { call }) =>
      withContext(client, call, 'topic_error', 'The records of own posts', async (workflow) => {
        const since = (await workflow.records.now()) - days * DAY_MS;
        const posts = await ownPosts(client, workflow, call, { since });
        const { topics, ...summary } = topicsOf(posts, config);
        return { ...summary, topics: topics.slice(0, MAX_TOPICS) };
      }),
    ),
  ];
};

/** As many as fit into the response budget. */
const MAX_TOPICS = 50;

const nameOf = (given: string): string => given.replace(/^@/, '').toLowerCase();

interface SomeAuthor {
  readonly id?: string | undefined;
  readonly username?: string | undefined;
}

/** `given` is a user name or a user id. A name of digits only is taken for either. */
const isAuthor = ({ id, username }: SomeAuthor, given: string): boolean =>
  id === given || username?.toLowerCase() === nameOf(given);

const repliesTo = (
  posts: readonly PackRecord<MadePost>[],
  author: string,
): readonly PackRecord<MadePost>[] =>
  posts.filter(({ data }) => data.kind === 'reply' && isAuthor(data.author ?? {}, author));

const factsOfReply = ({ at, data }: PackRecord<MadePost>): ReplyFacts => ({
  at,
  text: data.text,
  likes: data.performance?.likes,
  replies: data.performance?.replies,
  performance: data.performance?.score,
});

/** The replies to an author, by user name or id. */
export const replyFactsOf = (
  posts: readonly PackRecord<MadePost>[],
  author: string,
): readonly ReplyFacts[] => repliesTo(posts, author).map(factsOfReply);

function authorIn(
  replies: readonly PackRecord<MadePost>[],
  candidates: readonly PackRecord<Candidate>[],
) {
  const known: readonly SomeAuthor[] = [
    ...replies.flatMap(({ data }) => data.author ?? []),
    ...candidates.map(({ data }) => ({ id: data.authorId, username: data.authorUsername })),
  ];
  return {
    id: known.find(({ id }) => id !== undefined)?.id ?? null,
    username: known.find(({ username }) => username !== undefined)?.username ?? null,
  };
}

/** Which keywords the author's tweets had, most frequent first. */
function affinity(candidates: readonly PackRecord<Candidate>[], keywords: readonly string[]) {
  const counts = new Map<string, number>();
  for (const { data } of candidates) {
    for (const keyword of matchKeywords(data.text, keywords)) {
      counts.set(keyword, (counts.get(keyword) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([keyword, tweets]) => ({ keyword, tweets }))
    .toSorted((a, b) => b.tweets - a.tweets)
    .slice(0, TOPICS);
}

/**
 * The performance of the topics of own posts. A post without a given topic counts for the configured
 * topics that it names. Replies are about the topics of others.
 */
export function topicsOf(
  posts: readonly PackRecord<MadePost>[],
  { topics }: { readonly topics: readonly string[] },
) {
  const about = posts
    .filter(({ data }) => data.kind !== 'reply')
    .flatMap(({ data }): readonly TopicPost[] => {
      const named = data.topic === undefined ? matchKeywords(data.text, topics) : [data.topic];
      return named.map((topic) => ({
        topic,
        text: data.text,
        performance: data.performance?.score,
      }));
    });
  return summarizeTopics(about);
}
