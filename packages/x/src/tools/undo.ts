import { raise, toolError, type PackOperation } from '@toolkeel/contract';
import { stringOf } from '@toolkeel/pack-kit';
import type { Client } from '../api/client.js';
import { missingTool, openWorkflow, passOn, type WorkflowCall } from '../workflow/access.js';
import { postsIn } from '../workflow/history.js';
import { invalid } from '../workflow/schedule.js';
import { undoSpec } from './specs/workflow.js';
import * as engageSpecs from './specs/write.js';
import { xTool } from './tool.js';

const INVERSES: Readonly<Record<string, readonly [tool: string, argument: string]>> = {
  [engageSpecs.likeTweetSpec.name]: [engageSpecs.unlikeTweetSpec.name, 'tweet_id'],
  [engageSpecs.followUserSpec.name]: [engageSpecs.unfollowUserSpec.name, 'target_user_id'],
  [engageSpecs.retweetSpec.name]: [engageSpecs.unretweetSpec.name, 'tweet_id'],
  [engageSpecs.bookmarkTweetSpec.name]: [engageSpecs.unbookmarkTweetSpec.name, 'tweet_id'],
};
const DELETE = engageSpecs.deleteTweetSpec.name;
/** The tools that post. */
export const POSTING: readonly string[] = [
  engageSpecs.postTweetSpec,
  engageSpecs.replyToTweetSpec,
  engageSpecs.quoteTweetSpec,
  engageSpecs.postThreadSpec,
].map(({ name }) => name);

interface Inverse {
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
  readonly targetId: string;
}

/**
 * The calls that undo an operation; empty if it cannot be undone or was not executed. The last post of a
 * thread comes first.
 */
export function inversesOf(operation: PackOperation): readonly Inverse[] {
  const { tool, arguments: args = {} } = operation;
  if (POSTING.includes(tool)) {
    return postsIn(operation)
      .map(({ id }) => ({ tool: DELETE, args: { tweet_id: id }, targetId: id }))
      .toReversed();
  }
  const [inverse, argument = ''] = INVERSES[tool] ?? [];
  const targetId = stringOf(args[argument]);
  const isExecuted = operation.outcome === 'executed';
  if (!isExecuted || inverse === undefined || targetId === undefined) return [];
  return [{ tool: inverse, args: { [argument]: targetId }, targetId }];
}

/** The targets whose inverse was executed since. What was done again after that is not theirs to undo. */
async function undoneSince(
  { operations }: WorkflowCall,
  { account, settled_at: settledAt, created_at: createdAt }: PackOperation,
  { tool, args }: Inverse,
): Promise<ReadonlySet<string>> {
  const [argument = ''] = Object.keys(args);
  const executed = await operations.list({
    account,
    tools: [tool],
    states: ['succeeded', 'reconciled'],
    settledSince: Date.parse(settledAt ?? createdAt),
    limit: MAX_INVERSES,
  });
  return new Set(
    executed.flatMap(({ outcome, arguments: given }) =>
      outcome === 'executed' ? (stringOf(given?.[argument]) ?? []) : [],
    ),
  );
}

const MAX_INVERSES = 1000;

export const undoTool = (client: Client) =>
  xTool(undoSpec, client, async ({ operation_id: id }, { call, context }) => {
    const workflow = await openWorkflow(client, call);
    const operation = await workflow.operations.show(id);
    if (!operation || operation.account !== workflow.account) {
      return raise(
        toolError('not_found', 'This account has no such operation. See get_recent_mutations.', {
          details: { resource: 'operation', id },
        }),
      );
    }
    const inverses = inversesOf(operation);
    const [first] = inverses;
    if (!first) {
      return invalid(
        'operation_id',
        `an operation of ${operation.tool} in state ${operation.state} cannot be undone`,
      );
    }
    const { signal, deadline } = call;
    const undone: { tool: string; target_id: string }[] = [];
    const remaining: { target_id: string; code: string }[] = [];
    const failures: Parameters<typeof passOn>[0][] = [];
    const isUndone = await undoneSince(workflow, operation, first);
    for (const { tool, args, targetId } of inverses) {
      if (isUndone.has(targetId)) {
        undone.push({ tool, target_id: targetId });
        continue;
      }
      const { onDelivered } = context;
      const options = { signal, deadline, ...(onDelivered && { onDelivered }) };
      const envelope = await workflow.call(tool, args, options);
      if (!envelope) return missingTool(tool);
      if (envelope.success) {
        undone.push({ tool, target_id: targetId });
      } else {
        remaining.push({ target_id: targetId, code: envelope.error.code });
        failures.push(envelope.error);
      }
    }
    const [failure] = failures;
    if (failure && undone.length === 0) return passOn<'not_found'>(failure);
    return { operation_id: id, undone, remaining };
  });
