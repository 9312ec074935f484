import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { xCodes } from '../../codes.js';
import { mediaIds, paginationToken, postTraits, text } from './common.js';

/** Only in the workflow profile: these tools need the journal. */
const workflow = { profiles: ['workflow'], requires: ['x_client', 'db'] } as const;
const reading = { ...workflow, effect: 'read', errors: [...xCodes, 'db_error'] } as const;
/** Acts through the tools that post and delete, so that policy and journal apply to those. */
const writing = { ...workflow, effect: 'idempotent', delegates: true, category: 'write' } as const;

const string = z.string();
const time = z.string();

const draft = z.strictObject({
  draft_id: string,
  state: string.describe('draft, scheduled, awaiting_approval, posted, missed, …'),
  tweets: z.array(string),
  topic: string.optional(),
  scheduled_for: time.optional(),
  local_time: string.optional(),
  operation_id: string.optional(),
  tweet_ids: z.array(string).optional(),
  note: string.optional(),
});

const tweets = z.array(text).min(1).max(25).describe('One tweet, or the tweets of a thread.');
const scheduledFor = z
  .string()
  .max(40)
  .describe('2026-06-01T09:00 in time_zone, or with an offset.');
const timeZone = z.string().max(60).describe('Such as Europe/Rome.');
const topic = z.string().min(1).max(100).optional();

export const composeTweetSpec = specifyTool({
  ...writing,
  destructive: false,
  name: 'compose_tweet',
  title: 'Compose a tweet',
  description:
    'Stores a draft. With scheduled_for, the tweet or thread is posted at that time, after approval if the policy requires it. The same content and time is the same draft.',
  input: z.object({
    tweets,
    topic,
    scheduled_for: scheduledFor.optional(),
    time_zone: timeZone.optional(),
  }),
  output: draft,
  errors: postTraits.errors,
});

export const updateDraftSpec = specifyTool({
  ...writing,
  name: 'update_draft',
  title: 'Update a draft',
  description:
    'Changes the text or time of a draft that is not posted yet. What is not given stays. A changed draft needs a new approval.',
  input: z.object({
    draft_id: z.string().max(40),
    tweets: tweets.optional(),
    topic,
    scheduled_for: scheduledFor.optional(),
    time_zone: timeZone.optional(),
    unschedule: z.boolean().optional(),
  }),
  output: draft,
  errors: postTraits.errors,
});

export const cancelDraftSpec = specifyTool({
  ...writing,
  name: 'cancel_draft',
  title: 'Cancel a draft',
  description: 'Cancels a draft, and its scheduled post if that is not being sent.',
  input: z.object({ draft_id: z.string().max(40) }),
  output: draft,
  errors: [...xCodes, 'invalid_input'],
});

const paging = <Cursor extends z.ZodObject>(items: string, cursor: Cursor) =>
  ({ token: 'pagination_token', cursor, items, unbound: ['limit'] }) as const;
const limit = z.int().min(1).max(100).default(20);

export const listDraftsSpec = specifyTool({
  ...reading,
  category: 'content',
  openWorld: false,
  name: 'list_drafts',
  title: 'Drafts',
  description: 'Lists drafts and scheduled posts, newest first, with what became of them.',
  input: z.object({ limit, pagination_token: paginationToken }),
  output: z.strictObject({ drafts: z.array(draft) }),
  paging: paging('drafts', z.strictObject({ at: z.number(), id: z.string() })),
});

const dryRun = z.strictObject({
  valid: z.boolean(),
  tweets: z.array(z.strictObject({ weighted_length: z.int(), limit: z.int() })),
  problems: z.array(string),
  decision: string.optional().describe('allow, deny, require_approval or dry_run.'),
  rule: string.optional(),
  explanation: string.optional(),
  cost_usd: z.number(),
});

export const postTweetDryRunSpec = specifyTool({
  ...reading,
  category: 'write',
  openWorld: false,
  name: 'x_post_tweet_dry_run',
  title: 'Check a tweet',
  description: 'Checks a tweet without posting it: length, media, policy, cost.',
  input: z.object({ text, media_ids: mediaIds.optional() }),
  output: dryRun,
  errors: [...xCodes, 'db_error', 'policy_error'],
});

export const postThreadDryRunSpec = specifyTool({
  ...reading,
  category: 'write',
  openWorld: false,
  name: 'x_post_thread_dry_run',
  title: 'Check a thread',
  description: 'Checks a thread without posting it: every length, policy, cost.',
  input: z.object({ tweets: z.array(text).min(1).max(25) }),
  output: dryRun,
  errors: [...xCodes, 'db_error', 'policy_error'],
});

export const undoSpec = specifyTool({
  ...writing,
  name: 'x_undo',
  title: 'Undo',
  description:
    'Undoes an executed operation of this account: deletes what it posted, or removes its like, follow, retweet or bookmark. Policy and approvals apply as for a direct call.',
  input: z.object({
    operation_id: z.string().min(1).max(100).describe('From get_recent_mutations.'),
  }),
  output: z.strictObject({
    operation_id: string,
    undone: z.array(z.strictObject({ tool: string, target_id: string })),
    remaining: z.array(z.strictObject({ target_id: string, code: string })),
  }),
  errors: [...xCodes, 'invalid_input'],
});

const before = z.strictObject({ before: z.string() });

export const listPendingApprovalsSpec = specifyTool({
  ...reading,
  category: 'approval',
  openWorld: false,
  name: 'list_pending_approvals',
  title: 'Pending approvals',
  description: 'Lists calls that wait for an operator. No tool can approve them.',
  input: z.object({ limit, pagination_token: paginationToken }),
  output: z.strictObject({
    approvals: z.array(
      z.strictObject({
        operation_id: string,
        tool: string,
        arguments: z.record(z.string(), z.unknown()),
        edited: z.boolean().describe('By an operator.'),
        rule: string,
        explanation: string,
        requested_at: time,
        expires_at: time,
        scheduled_for: time.optional(),
      }),
    ),
  }),
  paging: paging('approvals', before),
});

export const getPendingCountSpec = specifyTool({
  ...reading,
  category: 'approval',
  openWorld: false,
  name: 'get_pending_count',
  title: 'Number of pending approvals',
  description: 'Counts the calls that wait for an operator.',
  input: z.object({}),
  output: z.strictObject({ pending: z.int(), oldest_requested_at: time.optional() }),
});

export const getModeSpec = specifyTool({
  ...workflow,
  requires: [],
  effect: 'read',
  category: 'meta',
  openWorld: false,
  name: 'get_mode',
  title: 'Mode',
  description:
    'Tells whether calls that change something are executed by the rules (autopilot) or all wait for an operator (composer).',
  input: z.object({}),
  output: z.strictObject({ mode: string, approval_mode: z.boolean() }),
  errors: ['db_error'],
});

const hours = z.int().min(1).max(720).default(24);

export const getActionLogSpec = specifyTool({
  ...reading,
  category: 'analytics',
  openWorld: false,
  name: 'get_action_log',
  title: 'Action log',
  description:
    'Lists what calls to X tools led to, newest first: executed, refused, waiting or unknown.',
  input: z.object({
    since_hours: hours,
    tool: z.string().max(64).optional(),
    limit,
    pagination_token: paginationToken,
  }),
  output: z.strictObject({
    actions: z.array(
      z.strictObject({
        at: time,
        tool: string,
        state: string,
        outcome: string.optional(),
        code: string.optional(),
        summary: string,
        operation_id: string,
      }),
    ),
  }),
  paging: paging('actions', before),
});

export const getRecentMutationsSpec = specifyTool({
  ...reading,
  category: 'analytics',
  openWorld: false,
  name: 'get_recent_mutations',
  title: 'Recent mutations',
  description: 'Lists what was executed on X, newest first, and whether x_undo can undo it.',
  input: z.object({ limit, pagination_token: paginationToken }),
  output: z.strictObject({
    mutations: z.array(
      z.strictObject({
        operation_id: string,
        tool: string,
        executed_at: time,
        arguments: z.record(z.string(), z.unknown()),
        tweet_ids: z.array(string).optional(),
        undo: z.strictObject({ tool: string, operation_id: string }).nullable(),
      }),
    ),
  }),
  paging: paging('mutations', before),
});

export const getStatsSpec = specifyTool({
  ...reading,
  category: 'analytics',
  openWorld: false,
  name: 'get_stats',
  title: 'Statistics',
  description:
    'Summarises the posts of this account, by whichever tool, and their performance where it was measured.',
  input: z.object({ days: z.int().min(1).max(90).default(7) }),
  output: z.strictObject({
    days: z.int(),
    posts: z.strictObject({ post: z.int(), reply: z.int(), quote: z.int(), thread: z.int() }),
    deleted: z.int(),
    measured: z.int(),
    average_score: z.number().nullable().describe('Of measured posts.'),
    best: z.strictObject({ tweet_id: string, text: string, score: z.number() }).nullable(),
    authors: z
      .array(z.strictObject({ author_id: string, username: string.optional(), replies: z.int() }))
      .describe('Most replied to.'),
    drafts: z.record(z.string(), z.int()).describe('By state.'),
    pending_approvals: z.int(),
  }),
});
