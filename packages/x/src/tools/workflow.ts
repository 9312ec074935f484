import { page, raisedToolError, toolError, type PackOperation } from '@toolkeel/contract';
import { objectOf, stringOf, type CallContext } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { postCost } from '../cost.js';
import { checkDraft } from '../posts/draft.js';
import { weightedLength } from '../text/weighted-length.js';
import { openWorkflow, passOn, type WorkflowCall } from '../workflow/access.js';
import {
  cancel,
  checkTweets,
  compose,
  storeEnds,
  update,
  type DraftContent,
} from '../workflow/drafts.js';
import { show } from '../workflow/draft-view.js';
import { submitStored } from '../workflow/handover.js';
import { DRAFTS, POSTS, postsIn, syncPosts, type MadePost } from '../workflow/history.js';
import { textRules } from '../workflow/hard-rules.js';
import { checkAhead, invalid, readSchedule } from '../workflow/schedule.js';
import {
  cancelDraftSpec,
  composeTweetSpec,
  getActionLogSpec,
  getModeSpec,
  getPendingCountSpec,
  getRecentMutationsSpec,
  getStatsSpec,
  listDraftsSpec,
  listPendingApprovalsSpec,
  postThreadDryRunSpec,
  postTweetDryRunSpec,
  undoSpec,
  updateDraftSpec,
} from './specs/workflow.js';
import * as engageSpecs from './specs/write.js';
import { aboutTool, xTool } from './tool.js';
import { inversesOf, POSTING, undoTool } from './undo.js';

export const workflowTools = (client: Client) => [
  ...draftTools(client),
  ...dryRunTools(client),
  undoTool(client),
  ...approvalTools(client),
  ...analyticsTools(client),
  aboutTool(getModeSpec, client, async () => {
    const { workflow } = client;
    if (!workflow) return toolError('db_error', 'This server has no journal.');
    return { mode: workflow.mode, approval_mode: workflow.approvalMode };
  }),
];

interface Timed {
  readonly scheduled_for?: string | undefined;
  readonly time_zone?: string | undefined;
}

function scheduleOf({ scheduled_for: given, time_zone: zone }: Timed) {
  if (given !== undefined) return readSchedule(given, zone);
  if (zone !== undefined) invalid('time_zone', 'is given without scheduled_for');
  return undefined;
}

function draftTools(client: Client) {
  return [
    xTool(
      composeTweetSpec,
      client,
      async ({ tweets, topic, ...timed }, { call }) => {
        checkTweets(client, tweets);
        const workflow = await openWorkflow(client, call);
        const scheduled = scheduleOf(timed);
        return compose(client, workflow, { tweets, topic, scheduled }, call);
      },
      {
        // For get_policy_status: the posting tool has the same rules, and refuses without losing the text.
        hardRules: async ({ tweets }) => textRules(tweets, client.config.workflow),
      },
    ),
    xTool(updateDraftSpec, client, async (args, { call }) => {
      const { draft_id: id, tweets, topic, unschedule = false, ...timed } = args;
      if (tweets) checkTweets(client, tweets);
      if (unschedule && timed.scheduled_for !== undefined) {
        invalid('unschedule', 'excludes scheduled_for');
      }
      const workflow = await openWorkflow(client, call);
      const scheduled = scheduleOf(timed);
      if (scheduled) checkAhead(scheduled, await workflow.records.now());
      const change = (current: DraftContent): DraftContent => ({
        tweets: tweets ?? current.tweets,
        topic: topic ?? current.topic,
        scheduled: unschedule ? undefined : (scheduled ?? current.scheduled),
      });
      return update(client, workflow, id, change, call);
    }),
    xTool(cancelDraftSpec, client, async ({ draft_id: id }, { call }) =>
      cancel(client, await openWorkflow(client, call), id, call),
    ),
    xTool(listDraftsSpec, client, async ({ limit }, { call, cursor }) => {
      const workflow = await openWorkflow(client, call);
      const { records, account } = workflow;
      await submitStored(client, workflow, call);
      await storeEnds(client, workflow);
      const found = await records.list<never>({
        kind: DRAFTS,
        account,
        limit: limit + 1,
        ...(cursor && { after: cursor }),
      });
      const shown = found.slice(0, limit);
      const drafts = await Promise.all(shown.map((draft) => show(workflow, draft)));
      const after = (kept: number) => ({ at: shown[kept - 1]!.at, id: shown[kept - 1]!.id });
      return page({ drafts }, { after, ...(found.length > limit && { next: after(limit) }) });
    }),
  ];
}

function dryRunTools(client: Client) {
  const check = async (
    tool: string,
    args: Readonly<Record<string, unknown>>,
    texts: readonly string[],
    mediaIds: readonly string[] | undefined,
    call: CallContext,
  ) => {
    const workflow = await openWorkflow(client, call);
    const isThread = tool === 'x_post_thread';
    const problems = texts.flatMap((text, index) =>
      problemOf(() => checkDraft({ text, mediaIds }, client.config, isThread ? index : undefined)),
    );
    const { signal, deadline } = call;
    const status = await workflow.call(
      'get_policy_status',
      { tool, arguments: args },
      { signal, deadline },
    );
    if (status && !status.success) return passOn<'policy_error'>(status.error);
    const policy = objectOf(status?.data);
    const { maxPostLength: limit } = client.config;
    const decision = stringOf(policy?.['decision']);
    const rule = stringOf(policy?.['rule']);
    const explanation = stringOf(policy?.['explanation']);
    return {
      valid: problems.length === 0 && decision !== 'deny',
      tweets: texts.map((text) => ({ weighted_length: weightedLength(text), limit })),
      problems,
      ...(decision !== undefined && { decision }),
      ...(rule !== undefined && { rule }),
      ...(explanation !== undefined && { explanation }),
      cost_usd: postCost(client.prices, texts).amount,
    };
  };
  return [
    xTool(postTweetDryRunSpec, client, (args, { call }) =>
      check('x_post_tweet', args, [args.text], args.media_ids, call),
    ),
    xTool(postThreadDryRunSpec, client, (args, { call }) =>
      check('x_post_thread', args, args.tweets, undefined, call),
    ),
  ];
}

/** The message of the tool error that a check raises. */
function problemOf(check: () => void): readonly string[] {
  try {
    check();
    return [];
  } catch (cause) {
    return [messageOf(cause)];
  }
}

const isPending = ({ approval }: PackOperation): boolean => approval?.decision === undefined;

/** The journal limits the pending approvals of an account to far fewer. */
const MAX_PENDING = 1000;

/** `before`: the last one of the previous page, which may have been decided since. */
async function pendingOf(
  { operations, account }: WorkflowCall,
  before?: string,
): Promise<readonly PackOperation[]> {
  const filter = { states: ['awaiting_approval'], account, limit: MAX_PENDING };
  const waiting = await operations.list({ ...filter, ...(before !== undefined && { before }) });
  return waiting.filter(isPending);
}

function approvalTools(client: Client) {
  return [
    xTool(listPendingApprovalsSpec, client, async ({ limit }, { call, cursor }) => {
      const all = await pendingOf(await openWorkflow(client, call), cursor?.before);
      const shown = all.slice(0, limit);
      const approvals = shown.map(({ id, tool, arguments: args = {}, approval }) => ({
        operation_id: id,
        tool,
        arguments: args,
        edited: approval?.edited ?? false,
        rule: approval?.rule ?? '',
        explanation: approval?.explanation ?? '',
        requested_at: approval?.requested_at ?? '',
        expires_at: approval?.expires_at ?? '',
        ...(approval?.scheduled_for !== undefined && { scheduled_for: approval.scheduled_for }),
      }));
      return page({ approvals }, pagesAfter(shown, all.length > limit));
    }),
    xTool(getPendingCountSpec, client, async (_, { call }) => {
      const all = await pendingOf(await openWorkflow(client, call));
      const oldest = all.at(-1)?.approval?.requested_at;
      return {
        pending: all.length,
        ...(oldest !== undefined && { oldest_requested_at: oldest }),
      };
    }),
  ];
}

function pagesAfter(shown: readonly PackOperation[], more: boolean) {
  const after = (kept: number) => ({ before: shown[kept - 1]!.id });
  return { after, ...(more && shown.length > 0 && { next: after(shown.length) }) };
}

const HOUR_MS = 3_600_000;
const SUMMARY = 100;

/** The tools of this pack that change something on X. */
const MUTATIONS = Object.values(engageSpecs).map(({ name }) => name);

function analyticsTools(client: Client) {
  return [
    xTool(getActionLogSpec, client, async (args, { call, cursor }) => {
      const { since_hours: hours, tool, limit } = args;
      const { operations, records, account } = await openWorkflow(client, call);
      const found = await operations.list({
        account,
        tools: tool === undefined ? MUTATIONS : [tool],
        since: (await records.now()) - hours * HOUR_MS,
        limit: limit + 1,
        ...(cursor && { before: cursor.before }),
      });
      const shown = found.slice(0, limit);
      const actions = shown.map((operation) => ({
        at: operation.settled_at ?? operation.created_at,
        tool: operation.tool,
        state: operation.state,
        ...(operation.outcome && { outcome: operation.outcome }),
        ...(operation.code !== undefined && { code: operation.code }),
        summary: summaryOf(operation),
        operation_id: operation.id,
      }));
      return page({ actions }, pagesAfter(shown, found.length > limit));
    }),
    xTool(getRecentMutationsSpec, client, async ({ limit }, { call, cursor }) => {
      const { operations, account } = await openWorkflow(client, call);
      const found = await operations.list({
        account,
        tools: MUTATIONS,
        states: ['succeeded', 'reconciled'],
        limit: limit + 1,
        ...(cursor && { before: cursor.before }),
      });
      const shown = found.slice(0, limit);
      const executed = shown.filter(({ outcome }) => outcome === 'executed');
      const mutations = executed.map((operation) => {
        const ids = postsIn(operation).map(({ id }) => id);
        const isPost = POSTING.includes(operation.tool);
        return {
          operation_id: operation.id,
          tool: operation.tool,
          executed_at: operation.settled_at ?? operation.created_at,
          arguments: operation.arguments ?? {},
          ...(isPost && { tweet_ids: ids }),
          undo:
            inversesOf(operation).length > 0
              ? { tool: undoSpec.name, operation_id: operation.id }
              : null,
        };
      });
      const { after } = pagesAfter(executed, false);
      // The last one shown may be one that was not executed.
      const last = found.length > limit ? shown.at(-1) : undefined;
      return page({ mutations }, { after, ...(last && { next: { before: last.id } }) });
    }),
    xTool(getStatsSpec, client, async ({ days }, { call }) => {
      const workflow = await openWorkflow(client, call);
      await syncPosts(client, workflow.account, call);
      await storeEnds(client, workflow);
      return statsOf(workflow, days);
    }),
  ];
}

function summaryOf({ arguments: args = {} }: PackOperation): string {
  const { text, tweets, tweet_id: tweet, target_user_id: user, file_path: file } = args;
  const all: readonly unknown[] = Array.isArray(tweets) ? tweets : [];
  const first = all[0] ?? text ?? tweet ?? user ?? file;
  const shown = stringOf(first) ?? '';
  return shown.length > SUMMARY ? `${shown.slice(0, SUMMARY)}…` : shown;
}

const MAX_POSTS = 1000;
const TOP_AUTHORS = 5;

async function statsOf(workflow: WorkflowCall, days: number) {
  const { records, account } = workflow;
  const since = (await records.now()) - days * 24 * HOUR_MS;
  const made = await records.list<MadePost>({ kind: POSTS, account, since, limit: MAX_POSTS });
  const kept = made.filter(({ state }) => state !== 'deleted');
  const posts = { post: 0, reply: 0, quote: 0, thread: 0 };
  for (const { data } of kept) posts[data.kind] += 1;
  const measured = kept.flatMap(({ id, data: { performance, text } }) =>
    performance?.score === undefined ? [] : [{ tweet_id: id, text, score: performance.score }],
  );
  const total = measured.reduce((sum, { score }) => sum + score, 0);
  const [best = null] = measured.toSorted((a, b) => b.score - a.score);
  const replies = new Map<string, { author_id: string; username?: string; replies: number }>();
  for (const { data } of kept) {
    if (data.kind !== 'reply' || !data.author) continue;
    const { id, username } = data.author;
    const known = replies.get(id) ?? {
      author_id: id,
      ...(username !== undefined && { username }),
      replies: 0,
    };
    replies.set(id, { ...known, replies: known.replies + 1 });
  }
  const drafts: Record<string, number> = {};
  for (const record of await records.list<never>({ kind: DRAFTS, account, limit: MAX_POSTS })) {
    const { state } = await show(workflow, record);
    drafts[state] = (drafts[state] ?? 0) + 1;
  }
  return {
    days,
    posts,
    deleted: made.length - kept.length,
    measured: measured.length,
    average_score: measured.length === 0 ? null : total / measured.length,
    best,
    authors: [...replies.values()].toSorted((a, b) => b.replies - a.replies).slice(0, TOP_AUTHORS),
    drafts,
    pending_approvals: (await pendingOf(workflow)).length,
  };
}

function messageOf(cause: unknown): string {
  return raisedToolError(cause)?.input.message ?? 'is not valid';
}
