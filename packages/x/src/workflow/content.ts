import { raise, toolError } from '@toolkeel/contract';
import { callContextOf, createToolFactory } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { faultToError } from '../faults.js';
import { weightedLength } from '../text/weighted-length.js';
import { findUrls } from '../text/urls.js';
import {
  generateReplySpec,
  generateThreadPlanSpec,
  generateThreadSpec,
  generateTweetSpec,
  suggestTopicsSpec,
} from './assist-specs.js';
import { ownPosts, withContext } from './candidates.js';
import { topicsOf } from './context.js';
import { createWriter, hookOf, type Writer } from './generate.js';
import { bannedPhrase } from './banned-phrases.js';
import { matchKeywords } from './score.js';

const DAY_MS = 86_400_000;
const LOOKBACK_DAYS = 90;

/** A tool that asks a language model: without the time limit of requests to X. */
export const modelTool = createToolFactory({
  callOf: (_: Client, context) => ({ call: callContextOf(context) }),
  faultToError,
  common: ({ config }) => ({ account: config.account }),
});

export const writerOf = ({ config, model }: Client): Writer => createWriter(model, config.workflow);

export const contentTools = (client: Client) => {
  const { workflow: config, maxPostLength: limit } = client.config;
  const writer = writerOf(client);
  const topicOr = (given: string | undefined): string => given ?? anyTopic(client);
  return [
    modelTool(generateTweetSpec, client, async ({ topic: given, ...purpose }, { call }) => {
      const topic = topicOr(given);
      const written = await writer.tweet({ topic, limit, ...purpose }, call);
      return { topic, ...written, risks: risksOf([written.text], config) };
    }),

    modelTool(generateReplySpec, client, async (args, { call }) => {
      const { tweet_text: text, tweet_author: author, archetype } = args;
      const task = { author, text, archetype, mentionProduct: args.mention_product, limit };
      const written = await writer.reply(task, call);
      return { ...written, risks: risksOf([written.text], config) };
    }),

    modelTool(generateThreadSpec, client, async ({ topic: given, ...purpose }, { call }) => {
      const topic = topicOr(given);
      const { parts, ...generated } = await writer.thread({ topic, limit, ...purpose }, call);
      const tweets = parts.map(({ text }) => text);
      return { topic, tweets, ...generated, risks: risksOf(tweets, config) };
    }),

    modelTool(generateThreadPlanSpec, client, async (args, { call }) => {
      const { topic } = args;
      const { parts, ...generated } = await writer.thread({ ...args, limit }, call);
      const texts = parts.map(({ text }) => text);
      return {
        topic,
        hook_type: hookOf(texts[0] ?? ''),
        matches_topics: matchKeywords(topic, [...config.topics, ...config.keywords]),
        parts: parts.map((part) => ({ ...part, weighted_length: weightedLength(part.text) })),
        ...generated,
        risks: risksOf(texts, config),
      };
    }),

    modelTool(suggestTopicsSpec, client, async ({ count, ...purpose }, { call }) => {
      const { posts, measured, topics } = await withContext(
        client,
        call,
        'topic_error',
        'The records of own posts',
        async (workflow) => {
          const since = (await workflow.records.now()) - LOOKBACK_DAYS * DAY_MS;
          return topicsOf(await ownPosts(client, workflow, call, { since }), config);
        },
      );
      const performance = topics
        .slice(0, TOPICS_IN_PROMPT)
        .map(({ topic, posts: made, measured: known, average, advice }) => ({
          topic,
          posts: made,
          measured: known,
          average,
          advice,
        }));
      const suggested = await writer.topics(
        { count, configured: config.topics, performance, ...purpose },
        call,
      );
      return { ...suggested, measured_posts: measured, unmeasured_posts: posts - measured };
    }),
  ];
};

const TOPICS_IN_PROMPT = 20;

function anyTopic({ config, random }: Client): string {
  const { topics } = config.workflow;
  const topic = topics[Math.floor(random() * topics.length)];
  if (topic !== undefined) return topic;
  const reason = 'is required, because packs.x.workflow.topics is empty';
  return raise(
    toolError('invalid_input', `topic: ${reason}`, { details: { field: 'topic', reason } }),
  );
}

/**
 * What a reviewer should look at. A link or a mention that nobody asked for is how instructions in a
 * hostile tweet would show.
 */
export function risksOf(
  texts: readonly string[],
  config: Client['config']['workflow'],
): readonly string[] {
  const phrase = bannedPhrase(texts, config);
  return [
    ...(phrase === undefined ? [] : [`contains the banned phrase "${phrase}"`]),
    ...(texts.some((text) => findUrls(text).length > 0) ? ['contains a link'] : []),
    ...(texts.some((text) => /(?<![\w])[@＠]\w/u.test(text)) ? ['mentions an account'] : []),
  ];
}
