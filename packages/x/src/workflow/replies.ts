import { createHash } from 'node:crypto';
import {
  isRetryable,
  raisedToolError,
  toolError,
  type Envelope,
  type ToolContext,
} from '@toolkeel/contract';
import { objectOf, stringOf } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import type { CallContext } from '@toolkeel/pack-kit';
import { replyToTweetSpec } from '../tools/specs/write.js';
import { xTool } from '../tools/tool.js';
import { openWorkflow, type WorkflowCall } from './access.js';
import { draftRepliesSpec, proposeRepliesSpec } from './assist-specs.js';
import { findCandidate, ownPosts, repliedTweets } from './candidates.js';
import { modelTool, risksOf, writerOf } from './content.js';
import { bannedPhrase } from './hard-rules.js';
import type { Archetype } from './prompts.js';
import { similarity } from './recommend.js';

export const replyTools = (client: Client) => [draftTool(client), proposeTool(client)];

interface ItemError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

const itemError = (code: string, message: string): ItemError => ({
  code,
  message,
  retryable: isRetryable(code),
});

const notFound = (): ItemError =>
  itemError(
    'not_found',
    'No such candidate. Call find_reply_opportunities first; candidates are kept for 14 days.',
  );

/** How often each approach is chosen if the caller names none. */
const archetypeWeights: readonly (readonly [Archetype, number])[] = [
  ['agree_and_expand', 0.3],
  ['ask_question', 0.25],
  ['share_experience', 0.2],
  ['add_data', 0.15],
  ['respectful_disagree', 0.1],
];

function chooseArchetype(random: number): Archetype {
  let left = random;
  for (const [archetype, weight] of archetypeWeights) {
    left -= weight;
    if (left < 0) return archetype;
  }
  return 'agree_and_expand';
}

const draftTool = (client: Client) =>
  modelTool(draftRepliesSpec, client, async (args, { call }) => {
    const { maxPostLength: limit, workflow: config } = client.config;
    const writer = writerOf(client);
    const workflow = await openWorkflow(client, call);
    const posts = await ownPosts(client, workflow, call);
    const recent = recentReplies(posts);
    const draftOf = async (id: string) => {
      const candidate = await findCandidate(workflow, id);
      if (!candidate) return { candidate_id: id, status: 'failed', error: notFound() } as const;
      const { text, authorUsername: author } = candidate.data;
      const archetype = args.archetype ?? chooseArchetype(client.random());
      const task = { author, text, archetype, mentionProduct: args.mention_product, limit };
      const written = await writer.reply(task, call);
      const risks = [...risksOf([written.text], config), ...similarRisk(written.text, recent)];
      return { candidate_id: id, status: 'drafted', archetype, ...written, risks } as const;
    };
    const results: Awaited<ReturnType<typeof draftOf>>[] = [];
    // One after the other: a model that fails for one fails for all, and its quota is small.
    for (const id of new Set(args.candidate_ids)) {
      results.push(
        await draftOf(id).catch((cause: unknown) => {
          const error = raisedToolError(cause)?.input;
          // Without a model, or after a cancellation, the others cannot be drafted either.
          if (!error || error.code === 'llm_not_configured') throw cause;
          const { code, message } = error;
          return { candidate_id: id, status: 'failed', error: itemError(code, message) } as const;
        }),
      );
      call.progress({ progress: results.length, total: args.candidate_ids.length });
    }
    const failures = results.flatMap((result) => ('error' in result ? [result.error] : []));
    const [first] = failures;
    if (!first || failures.length < results.length) return { results };
    const message = `No reply was drafted. The first failure: ${first.message}`;
    return toolError(first.code as 'llm_error', message, { data: { results } });
  });

/** Replies with at least this share of common words count as the same. */
const SAME = 0.8;
const RECENT = 20;

const recentReplies = (posts: Awaited<ReturnType<typeof ownPosts>>): readonly string[] =>
  posts
    .filter(({ data }) => data.kind === 'reply')
    .slice(0, RECENT)
    .map(({ data }) => data.text);

const isSimilar = (text: string, others: readonly string[]): boolean =>
  others.some((other) => similarity(text, other) >= SAME);

const similarRisk = (text: string, others: readonly string[]): readonly string[] =>
  isSimilar(text, others) ? ['is nearly the same as a recent reply'] : [];

interface Item {
  readonly candidate_id: string;
  readonly text: string;
}

interface Result {
  readonly candidate_id: string;
  readonly status: 'queued' | 'executed' | 'blocked' | 'failed';
  readonly operation_id?: string;
  readonly tweet_id?: string;
  readonly error?: ItemError;
}

/** The last proposal for a tweet, so that a repeat meets its operation. */
interface Proposal {
  readonly key: string;
}

const PROPOSALS = 'proposal';
const PROPOSAL_KEPT_MS = 30 * 86_400_000;

const proposeTool = (client: Client) =>
  xTool(proposeRepliesSpec, client, async ({ items }, { call, context }) => {
    const workflow = await openWorkflow(client, call);
    const posts = await ownPosts(client, workflow, call);
    const seen: Seen = {
      replied: repliedTweets(posts),
      pending: await pendingReplies(workflow),
      texts: [...recentReplies(posts)],
      ids: new Set(),
    };
    const results: Result[] = [];
    for (const item of items) {
      results.push(await propose(client, workflow, item, seen, call, context));
      call.progress({ progress: results.length, total: items.length });
    }
    const isDone = results.some(({ status }) => status === 'queued' || status === 'executed');
    const [first] = results.flatMap(({ error }) => error ?? []);
    if (isDone || !first) return { results };
    const message = `No reply was sent or queued. The first reason: ${first.message}`;
    const isUnknown = results.some(({ error }) => error?.code === 'outcome_unknown');
    const code = isUnknown ? 'outcome_unknown' : first.code;
    return toolError(code as 'db_error', message, { data: { results } });
  });

interface Seen {
  readonly replied: ReadonlySet<string>;
  /** Operations that are not settled, by the tweet that they reply to. */
  readonly pending: ReadonlyMap<string, string>;
  /** Recent replies, and those of this call. */
  readonly texts: string[];
  readonly ids: Set<string>;
}

async function propose(
  client: Client,
  workflow: WorkflowCall,
  { candidate_id: id, text }: Item,
  seen: Seen,
  call: CallContext,
  { signal, onDelivered }: ToolContext,
): Promise<Result> {
  const key = `reply.${id}.${createHash('sha256').update(text.trim()).digest('hex')}`;
  const { records, account } = workflow;
  const earlier = await records.get<Proposal>(PROPOSALS, account, id);
  // A repeat is answered by the journal, which knows what became of the first.
  if (earlier?.data.key !== key || seen.ids.has(id)) {
    const blocked = await reasonToBlock(client, workflow, id, text, seen);
    if (blocked) return { candidate_id: id, ...blocked };
    const at = await records.now();
    // Before the call: a crash in between must not let the repeat look like another reply.
    await records.put<Proposal>({
      kind: PROPOSALS,
      account,
      id,
      at,
      data: { key },
      expiresAt: at + PROPOSAL_KEPT_MS,
    });
  }
  seen.ids.add(id);
  seen.texts.push(text);
  const answer = await workflow.call(
    replyToTweetSpec.name,
    { text, in_reply_to_id: id },
    {
      signal,
      deadline: call.deadline,
      idempotencyKey: key,
      ...(onDelivered && { onDelivered }),
    },
  );
  return { candidate_id: id, ...resultOf(answer) };
}

const blocked = (message: string, code = 'policy_denied_hard_rule') =>
  ({ status: 'blocked', error: itemError(code, message) }) as const;

/** The checks that need no request. The hard rules of `x_reply_to_tweet` follow with the call. */
async function reasonToBlock(
  client: Client,
  workflow: WorkflowCall,
  id: string,
  text: string,
  { replied, pending, texts, ids }: Seen,
): Promise<Omit<Result, 'candidate_id'> | undefined> {
  if (!(await findCandidate(workflow, id))) return { status: 'failed', error: notFound() };
  if (replied.has(id)) return blocked('This account has already replied to the tweet.');
  if (ids.has(id)) return blocked('This call has another reply to the same tweet.');
  const operation = pending.get(id);
  if (operation !== undefined) {
    const message = 'Another reply to the tweet is waiting for approval or has an unknown outcome.';
    return { ...blocked(message), operation_id: operation };
  }
  const phrase = bannedPhrase([text], client.config.workflow);
  if (phrase !== undefined) return blocked(`The text contains the banned phrase "${phrase}".`);
  if (isSimilar(text, texts)) return blocked('The text is nearly the same as a recent reply.');
  return undefined;
}

const UNSETTLED = ['claimed', 'sending', 'unknown', 'awaiting_approval'];

async function pendingReplies(workflow: WorkflowCall): Promise<ReadonlyMap<string, string>> {
  const { operations, account } = workflow;
  const open = await operations.list({
    tools: [replyToTweetSpec.name],
    account,
    states: UNSETTLED,
    limit: 1_000,
  });
  return new Map(
    open.flatMap(({ id, arguments: args }) => {
      const target = stringOf(args?.['in_reply_to_id']);
      return target === undefined ? [] : [[target, id] as const];
    }),
  );
}

/** What the answer of `x_reply_to_tweet` means for the item. */
function resultOf(answer: Envelope | undefined): Omit<Result, 'candidate_id'> {
  if (!answer) {
    const message = `This server has no tool ${replyToTweetSpec.name}.`;
    return { status: 'failed', error: itemError('not_found', message) };
  }
  if (answer.success) {
    const tweetId = stringOf(objectOf(answer.data)?.['id']);
    return { status: 'executed', ...(tweetId !== undefined && { tweet_id: tweetId }) };
  }
  const { code, message, retryable, operation_id: operationId } = answer.error;
  const error = { code, message, retryable };
  const operation = operationId === undefined ? {} : { operation_id: operationId };
  if (code === 'approval_required') return { status: 'queued', ...operation, error };
  const isBlocked = code.startsWith('policy_denied') || code.startsWith('approval_');
  return { status: isBlocked ? 'blocked' : 'failed', ...operation, error };
}
