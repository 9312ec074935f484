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
import { findCandidate, ownPosts } from './candidates.js';
import { modelTool, risksOf, writerOf } from './content.js';
import { bannedPhrase } from './banned-phrases.js';
import { textRules } from './hard-rules.js';
import { POSTS } from './history.js';
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
  /** Set while a call hands it to the journal, which does not know it yet. */
  readonly proposing?: true;
  /** If the answer named it: an operator may have edited its text. */
  readonly operation_id?: string;
}

const PROPOSALS = 'proposal';
const PROPOSAL_KEPT_MS = 30 * 86_400_000;
/** Longer than any call: a call that has not ended by then was stopped. */
const PROPOSING_MS = 5 * 60_000;

const proposeTool = (client: Client) =>
  xTool(
    proposeRepliesSpec,
    client,
    async ({ items }, { call, context }) => {
      const workflow = await openWorkflow(client, call);
      const seen: Seen = {
        ...(await knownReplies(client, workflow, call)),
        ownTexts: [],
        ids: new Set(),
      };
      const results: Result[] = [];
      for (const { candidate_id, text } of items) {
        // X ignores space around a text, and so does the key.
        const item = { candidate_id, text: text.trim() };
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
    },
    {
      // For get_policy_status; each reply has these rules again.
      hardRules: async ({ items }) =>
        textRules(
          items.map(({ text }) => text),
          client.config.workflow,
        ),
    },
  );

/** A reply of this account, sent or not settled yet. */
interface KnownReply {
  readonly targetId: string;
  readonly operationId: string;
  readonly text: string;
}

interface KnownReplies {
  readonly replied: readonly KnownReply[];
  /** Waiting for approval, being sent, or with an unknown outcome. */
  readonly pending: readonly KnownReply[];
  /** Recent replies, and those that wait. */
  readonly texts: readonly string[];
}

interface Seen extends KnownReplies {
  /** Of this call. */
  readonly ownTexts: string[];
  readonly ids: Set<string>;
}

async function knownReplies(
  client: Client,
  workflow: WorkflowCall,
  call: CallContext,
): Promise<KnownReplies> {
  const posts = await ownPosts(client, workflow, call);
  const pending = await pendingReplies(workflow);
  return {
    replied: posts.flatMap(({ data }) =>
      data.kind === 'reply' && data.target_id !== undefined
        ? { targetId: data.target_id, operationId: data.operation_id, text: data.text }
        : [],
    ),
    pending,
    texts: [...recentReplies(posts), ...pending.map(({ text }) => text)],
  };
}

const IN_FLIGHT = 'Another call proposes a reply to the tweet at this moment.';

async function propose(
  client: Client,
  workflow: WorkflowCall,
  item: Item,
  seen: Seen,
  call: CallContext,
  { signal, onDelivered }: ToolContext,
): Promise<Result> {
  const { candidate_id: id, text } = item;
  const key = `reply.${id}.${createHash('sha256').update(text).digest('hex')}`;
  const { records, account } = workflow;
  const earlier = await records.get<Proposal>(PROPOSALS, account, id);
  const repeated = earlier?.data.key === key && !seen.ids.has(id) ? earlier.data : undefined;
  const at = await records.now();
  const isOther = earlier !== undefined && earlier.data.key !== key;
  if (isOther && earlier.data.proposing && earlier.at > at - PROPOSING_MS) {
    return { candidate_id: id, ...blocked(IN_FLIGHT) };
  }
  // Another call may have replied since this one began.
  const known = isOther ? { ...seen, ...(await knownReplies(client, workflow, call)) } : seen;
  const refused = await reasonToBlock(client, workflow, item, known, repeated);
  if (refused) return { candidate_id: id, ...refused };
  const remember = (data: Proposal, version?: number) => {
    const expiresAt = at + PROPOSAL_KEPT_MS;
    return records.put({ kind: PROPOSALS, account, id, at, data, expiresAt }, version);
  };
  // Before the call: a crash in between must not let the repeat look like another reply.
  const claim = await remember({ ...repeated, key, proposing: true }, earlier?.version ?? 0);
  if (!claim && (await records.get<Proposal>(PROPOSALS, account, id))?.data.key !== key) {
    return { candidate_id: id, ...blocked(IN_FLIGHT) };
  }
  seen.ids.add(id);
  seen.ownTexts.push(text);
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
  const result = resultOf(answer);
  const { operation_id: operationId = repeated?.operation_id } = result;
  if (claim) {
    await remember(
      { key, ...(operationId !== undefined && { operation_id: operationId }) },
      claim.version,
    );
  }
  const isDeleted = repeated && (await wasDeleted(workflow, result));
  return { candidate_id: id, ...result, ...(isDeleted && blocked(DELETED)) };
}

const DELETED = 'The reply was sent, and deleted since. Nothing was sent again.';

async function wasDeleted(
  { records, account }: WorkflowCall,
  { status, tweet_id: id }: Omit<Result, 'candidate_id'>,
): Promise<boolean> {
  if (status !== 'executed' || id === undefined) return false;
  return (await records.get(POSTS, account, id))?.state === 'deleted';
}

const blocked = (message: string, code = 'policy_denied_hard_rule') =>
  ({ status: 'blocked', error: itemError(code, message) }) as const;

/** The checks that need no request. The hard rules of `x_reply_to_tweet` follow with the call. */
async function reasonToBlock(
  client: Client,
  workflow: WorkflowCall,
  { candidate_id: id, text }: Item,
  { replied, pending, texts, ownTexts, ids }: Seen,
  repeated: Proposal | undefined,
): Promise<Omit<Result, 'candidate_id'> | undefined> {
  if (!repeated && !(await findCandidate(workflow, id))) {
    return { status: 'failed', error: notFound() };
  }
  const isOther = (reply: KnownReply): boolean => {
    const isOwn =
      repeated && (reply.operationId === repeated.operation_id || reply.text.trim() === text);
    return reply.targetId === id && !isOwn;
  };
  if (replied.some(isOther)) return blocked('This account has already replied to the tweet.');
  if (ids.has(id)) return blocked('This call has another reply to the same tweet.');
  const other = pending.find(isOther);
  if (other) {
    const message = 'Another reply to the tweet is waiting for approval or has an unknown outcome.';
    return { ...blocked(message), operation_id: other.operationId };
  }
  // The journal knows what became of the first, and the hard rules follow with the call.
  if (repeated) return undefined;
  const phrase = bannedPhrase([text], client.config.workflow);
  if (phrase !== undefined) return blocked(`The text contains the banned phrase "${phrase}".`);
  if (isSimilar(text, [...texts, ...ownTexts]))
    return blocked('The text is nearly the same as a recent reply.');
  return undefined;
}

const UNSETTLED = ['claimed', 'sending', 'unknown', 'awaiting_approval'];

async function pendingReplies(workflow: WorkflowCall): Promise<readonly KnownReply[]> {
  const { operations, account } = workflow;
  const open = await operations.list({
    tools: [replyToTweetSpec.name],
    account,
    states: UNSETTLED,
    limit: 1_000,
  });
  return open.flatMap(({ id, arguments: args }) => {
    const targetId = stringOf(args?.['in_reply_to_id']);
    if (targetId === undefined) return [];
    return { targetId, operationId: id, text: stringOf(args?.['text']) ?? '' };
  });
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
