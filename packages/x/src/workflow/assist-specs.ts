import { specifyTool } from '@toolkeel/contract';
import { modelCodes } from '@toolkeel/pack-kit/base';
import * as z from 'zod';
import { xCodes } from '../codes.js';
import { id, tweetId } from '../tools/specs/common.js';
import { archetypes, structures, type Archetype, type Structure } from './prompts.js';

/** Specifications of the tools that find, judge and write: discovery, context, content, composites. */

const common = { effect: 'read', profiles: ['workflow'] } as const;
const dbErrors = [...xCodes, 'db_error'] as const;
const withRecords = { ...common, requires: ['x_client', 'db'] } as const;

const scoreFactors = z.array(
  z.strictObject({
    factor: z.string(),
    score: z.number().nullable().describe('null: unknown, not counted.'),
    max: z.number(),
    detail: z.string(),
  }),
);
const score = z.number();
const action = z.enum(['strong_reply', 'consider', 'skip']);
const metric = z.int().min(0).optional();
const minScore = z.number().min(0).max(90);
const text = z.string().min(1).max(25_000);
const words = z.string().min(1).max(500);
const limit = z.int().min(1).max(20).default(10);

export const scoreTweetSpec = specifyTool({
  ...common,
  openWorld: false,
  category: 'scoring',
  errors: [],
  name: 'score_tweet',
  title: 'Score a tweet',
  description:
    'Scores how much a tweet is worth a reply, with every factor. Facts that are left out are not counted.',
  input: z.object({
    text,
    author_followers: metric,
    likes: metric,
    retweets: metric,
    replies: metric,
    created_at: z.iso.datetime({ offset: true }).optional(),
    has_media: z.boolean().optional(),
    is_quote: z.boolean().optional(),
  }),
  output: z.strictObject({
    score,
    max: z.number(),
    threshold: z.number(),
    action,
    matched_keywords: z.array(z.string()),
    factors: scoreFactors,
  }),
});

const candidate = z.strictObject({
  tweet_id: z.string(),
  author_username: z.string().optional(),
  text: z.string(),
  created_at: z.string().optional(),
  found_at: z.string(),
  score,
  action,
  replied: z.boolean(),
  matched_keywords: z.array(z.string()),
  factors: scoreFactors,
});
const candidates = { threshold: z.number(), candidates: z.array(candidate) };

export const findReplyOpportunitiesSpec = specifyTool({
  ...withRecords,
  category: 'composite',
  errors: [...dbErrors, 'invalid_input'],
  name: 'find_reply_opportunities',
  title: 'Find tweets to reply to',
  description:
    'Searches X, scores the tweets and remembers them as candidates. Returns the best ones with their factors.',
  input: z.object({
    query: z.string().min(1).max(4096).optional().describe('Default: the configured keywords.'),
    min_score: minScore.optional(),
    limit,
    max_results: z.int().min(10).max(100).default(20).describe('Tweets to read; X charges each.'),
    since_id: id.optional().describe('Only tweets newer than this one.'),
  }),
  output: z.strictObject({ query: z.string(), searched: z.int(), ...candidates }),
});

export const getDiscoveryFeedSpec = specifyTool({
  ...withRecords,
  openWorld: false,
  category: 'discovery',
  errors: dbErrors,
  name: 'get_discovery_feed',
  title: 'Discovered tweets',
  description: 'Lists candidates of earlier searches by their score now. Sends no search.',
  input: z.object({ min_score: minScore.default(50), limit }),
  output: z.strictObject(candidates),
});

export const listUnrepliedTweetsSpec = specifyTool({
  ...withRecords,
  openWorld: false,
  category: 'discovery',
  errors: dbErrors,
  name: 'list_unreplied_tweets',
  title: 'Tweets without a reply',
  description: 'Lists candidates that this account has not replied to, by their score now.',
  input: z.object({ threshold: minScore.optional(), limit }),
  output: z.strictObject(candidates),
});

const response = z.strictObject({
  measured: z.int(),
  answered: z.int(),
  rate: z.number().nullable(),
  average_performance: z.number().nullable(),
});
const interactions = z.strictObject({
  replies_sent: z.int(),
  replies_last_day: z.int(),
  first_at: z.string().nullable(),
  last_at: z.string().nullable(),
  active_days: z.int(),
});

export const listTargetAccountsSpec = specifyTool({
  ...withRecords,
  openWorld: false,
  category: 'discovery',
  errors: dbErrors,
  name: 'list_target_accounts',
  title: 'Target accounts',
  description: 'Lists the configured target accounts with the replies to them and their response.',
  input: z.object({}),
  output: z.strictObject({
    accounts: z.array(z.strictObject({ username: z.string(), interactions, response })),
  }),
});

export const getAuthorContextSpec = specifyTool({
  ...withRecords,
  openWorld: false,
  category: 'context',
  errors: [...xCodes, 'context_error'],
  name: 'get_author_context',
  title: 'Context of an author',
  description:
    'Summarizes earlier replies to an author: history, response, topics and risks. Reads only records.',
  input: z.object({
    identifier: z
      .string()
      .regex(/^@?\w{1,50}$/)
      .describe('User name or user id.'),
  }),
  output: z.strictObject({
    author: z.strictObject({ id: z.string().nullable(), username: z.string().nullable() }),
    interactions,
    response,
    risks: z.array(
      z.strictObject({
        signal: z.string(),
        severity: z.enum(['low', 'medium', 'high']),
        detail: z.string(),
      }),
    ),
    topics: z.array(z.strictObject({ keyword: z.string(), tweets: z.int() })),
    history: z.array(
      z.strictObject({
        tweet_id: z.string(),
        at: z.string(),
        text: z.string(),
        in_reply_to_id: z.string().optional(),
        in_reply_to_text: z.string().optional(),
        performance: z.number().nullable().describe('null: not measured yet.'),
      }),
    ),
  }),
});

export const recommendEngagementSpec = specifyTool({
  ...withRecords,
  openWorld: false,
  category: 'context',
  errors: [...xCodes, 'recommendation_error'],
  name: 'recommend_engagement_action',
  title: 'Recommend an action',
  description:
    'Recommends to reply to a tweet, observe or skip it, with every factor and the limits that apply.',
  input: z.object({
    author_username: z.string().regex(/^@?\w{1,50}$/),
    tweet_text: text,
    campaign_objective: words.optional(),
  }),
  output: z.strictObject({
    action: z.enum(['reply', 'observe', 'skip']),
    confidence: z.number(),
    total: z.number(),
    factors: z.array(
      z.strictObject({
        factor: z.string(),
        score: z.number(),
        weight: z.number(),
        detail: z.string(),
      }),
    ),
    considerations: z.array(
      z.strictObject({
        rule: z.string(),
        effect: z.enum(['blocks', 'warns']),
        detail: z.string(),
      }),
    ),
  }),
});

export const topicPerformanceSpec = specifyTool({
  ...withRecords,
  openWorld: false,
  category: 'context',
  errors: [...xCodes, 'topic_error'],
  name: 'topic_performance_snapshot',
  title: 'Performance of topics',
  description:
    'Ranks the topics of own posts by measured performance, with advice. Unmeasured posts are counted apart.',
  input: z.object({ lookback_days: z.int().min(1).max(365).default(30) }),
  output: z.strictObject({
    posts: z.int(),
    measured: z.int(),
    average: z.number().nullable(),
    topics: z.array(
      z.strictObject({
        topic: z.string(),
        posts: z.int(),
        measured: z.int(),
        average: z.number().nullable(),
        ratio: z.number().nullable(),
        advice: z.enum(['experiment', 'double_down', 'maintain', 'reduce']),
        reason: z.string(),
        best: z.strictObject({ preview: z.string(), performance: z.number() }).nullable(),
        worst_performance: z.number().nullable(),
      }),
    ),
  }),
});

const withModel = {
  ...common,
  category: 'content',
  requires: ['llm'],
  errors: modelCodes,
} as const;
const topic = words.optional().describe('Default: one of the configured topics.');
const purpose = { objective: words.optional(), audience: words.optional() };
const archetype = z.enum(Object.keys(archetypes) as [Archetype]).optional();
const mentionProduct = z.boolean().default(false);

const generated = { model: z.string(), regenerated: z.boolean(), cut: z.boolean() };
const risks = z.array(z.string()).describe('Check these before posting.');
const draft = { text: z.string(), weighted_length: z.int(), ...generated, risks };

export const generateTweetSpec = specifyTool({
  ...withModel,
  errors: [...modelCodes, 'invalid_input'],
  name: 'generate_tweet',
  title: 'Generate a tweet',
  description: 'Writes a tweet with the language model. Posts nothing.',
  input: z.object({ topic, ...purpose }),
  output: z.strictObject({ topic: z.string(), ...draft }),
});

export const generateReplySpec = specifyTool({
  ...withModel,
  name: 'generate_reply',
  title: 'Generate a reply',
  description: 'Writes a reply to a tweet with the language model. Posts nothing.',
  input: z.object({
    tweet_text: text,
    tweet_author: z.string().max(50).optional(),
    archetype,
    mention_product: mentionProduct,
  }),
  output: z.strictObject(draft),
});

export const generateThreadSpec = specifyTool({
  ...withModel,
  errors: [...modelCodes, 'invalid_input'],
  name: 'generate_thread',
  title: 'Generate a thread',
  description: 'Writes a thread with the language model, for x_post_thread. Posts nothing.',
  input: z.object({ topic, ...purpose }),
  output: z.strictObject({
    topic: z.string(),
    tweets: z.array(z.string()),
    ...generated,
    risks,
  }),
});

export const generateThreadPlanSpec = specifyTool({
  ...withModel,
  name: 'generate_thread_plan',
  title: 'Plan a thread',
  description: 'Writes a thread with the purpose of each part and an analysis of its hook.',
  input: z.object({
    topic: words,
    ...purpose,
    structure: z.enum(Object.keys(structures) as [Structure]).optional(),
  }),
  output: z.strictObject({
    topic: z.string(),
    hook_type: z.enum(['question', 'contrarian', 'story', 'statement']),
    matches_topics: z.array(z.string()).describe('Configured topics and keywords in this topic.'),
    parts: z.array(
      z.strictObject({ purpose: z.string(), text: z.string(), weighted_length: z.int() }),
    ),
    ...generated,
    risks,
  }),
});

export const suggestTopicsSpec = specifyTool({
  ...withModel,
  requires: ['x_client', 'llm', 'db'],
  errors: [...new Set([...xCodes, ...modelCodes, 'topic_error' as const])],
  name: 'suggest_topics',
  title: 'Suggest topics',
  description:
    'Suggests topics with the language model, from the measured performance of own posts.',
  input: z.object({ count: z.int().min(1).max(10).default(5), ...purpose }),
  output: z.strictObject({
    topics: z.array(z.strictObject({ topic: z.string(), reason: z.string() })),
    model: z.string(),
    regenerated: z.boolean(),
    measured_posts: z.int(),
    unmeasured_posts: z.int(),
  }),
});

const candidateId = tweetId.describe('tweet_id of a candidate.');
const itemError = z.strictObject({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
});
const draftResults = z.strictObject({
  results: z.array(
    z.discriminatedUnion('status', [
      z.strictObject({
        candidate_id: z.string(),
        status: z.literal('drafted'),
        archetype: z.string(),
        ...draft,
      }),
      z.strictObject({ candidate_id: z.string(), status: z.literal('failed'), error: itemError }),
    ]),
  ),
});

export const draftRepliesSpec = specifyTool({
  ...withModel,
  category: 'composite',
  requires: ['x_client', 'llm', 'db'],
  errors: [...new Set([...dbErrors, ...modelCodes])],
  name: 'draft_replies_for_candidates',
  title: 'Draft replies',
  description: 'Writes a reply to each candidate with the language model. Posts nothing.',
  input: z.object({
    candidate_ids: z.array(candidateId).min(1).max(10),
    archetype,
    mention_product: mentionProduct,
  }),
  output: draftResults,
  partial: draftResults,
});

const proposals = z.strictObject({
  results: z.array(
    z.strictObject({
      candidate_id: z.string(),
      status: z.enum(['queued', 'executed', 'blocked', 'failed']),
      operation_id: z.string().optional(),
      tweet_id: z.string().optional(),
      error: itemError.optional().describe('Why it is not executed.'),
    }),
  ),
});

export const proposeRepliesSpec = specifyTool({
  // A repeat meets the operations of the first call, so it leads to the same state.
  effect: 'idempotent',
  delegates: true,
  destructive: false,
  profiles: ['workflow'],
  category: 'composite',
  requires: ['x_client', 'db'],
  errors: [...xCodes, 'invalid_input', 'tweet_too_long'],
  name: 'propose_and_queue_replies',
  title: 'Propose replies',
  description:
    'Checks replies to candidates and sends each as x_reply_to_tweet, or queues it for approval. A repeat reports what became of them.',
  input: z.object({
    items: z
      .array(z.strictObject({ candidate_id: candidateId, text }))
      .min(1)
      .max(10),
  }),
  output: proposals,
  partial: proposals,
});
