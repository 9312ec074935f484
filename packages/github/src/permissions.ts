import { headerOf } from '@toolkeel/pack-kit';
import type { GitHubClient } from './client/client.js';
import { rejectionOf } from './client/faults.js';
import type { Call } from './client/request.js';
import { sets } from './tools/specs/index.js';

/** The permission of fine-grained and App tokens, and the scope of classic tokens, that a tool needs. */
const needs: Readonly<
  Record<string, readonly [permission: string, access: 'read' | 'write', scope: string]>
> = {
  github_read_file: ['contents', 'read', 'repo'],
  github_list_tree: ['contents', 'read', 'repo'],
  github_list_commits: ['contents', 'read', 'repo'],
  github_compare: ['contents', 'read', 'repo'],
  github_get_issue: ['issues', 'read', 'repo'],
  github_list_pulls: ['pull_requests', 'read', 'repo'],
  github_get_pull: ['pull_requests', 'read', 'repo'],
  github_get_pull_diff: ['pull_requests', 'read', 'repo'],
  github_get_pull_discussion: ['pull_requests', 'read', 'repo'],
  github_list_releases: ['contents', 'read', 'repo'],
  github_list_notifications: ['notifications', 'read', 'notifications'],
  github_mark_notification_read: ['notifications', 'write', 'notifications'],
  github_update_issue: ['issues', 'write', 'repo'],
  github_relate_issues: ['issues', 'write', 'repo'],
  github_create_issue: ['issues', 'write', 'repo'],
  github_comment: ['issues', 'write', 'repo'],
  github_update_pull: ['pull_requests', 'write', 'repo'],
  github_resolve_thread: ['pull_requests', 'write', 'repo'],
  github_create_pull: ['pull_requests', 'write', 'repo'],
  github_submit_review: ['pull_requests', 'write', 'repo'],
  github_reply_review_comment: ['pull_requests', 'write', 'repo'],
  github_merge_pull: ['contents', 'write', 'repo'],
  github_create_branch: ['contents', 'write', 'repo'],
  github_commit_files: ['contents', 'write', 'repo'],
  github_create_release: ['contents', 'write', 'repo'],
  github_list_runs: ['actions', 'read', 'repo'],
  github_get_run: ['actions', 'read', 'repo'],
  github_get_job_log: ['actions', 'read', 'repo'],
  github_run_workflow: ['actions', 'write', 'repo'],
  github_rerun_or_cancel_run: ['actions', 'write', 'repo'],
};

export interface PermissionReport {
  /** Where the permissions are known from. */
  readonly source: 'scopes' | 'installation' | 'unknown';
  /** The tools that the credential does not allow, with what they need. */
  readonly refused: readonly { readonly tool: string; readonly needs: string }[];
}

/** Which of the tools the credential does not allow, as far as GitHub says. */
export async function permissionReport(
  client: GitHubClient,
  tools: readonly string[],
  call: Call,
): Promise<PermissionReport> {
  const { kind, permissions } = client.credential;
  if (kind === 'app' && permissions) {
    const granted = await permissions(call.signal ?? new AbortController().signal);
    const refused = tools.flatMap((tool) => {
      const [name = '', access] = needs[tool] ?? [];
      const isAllowed =
        access === undefined || [access, 'write', 'admin'].includes(granted[name] ?? '');
      return isAllowed ? [] : [{ tool, needs: `${name}: ${access}` }];
    });
    return { source: 'installation', refused };
  }
  const stated = await client.read('GET /user', {}, call).then(
    ({ headers }) => headerOf(headers, 'x-oauth-scopes'),
    (cause: unknown) => {
      // GitHub accepts the token of a workflow, but it has no user.
      if (rejectionOf(cause)?.status === 403) return undefined;
      throw cause;
    },
  );
  if (stated === undefined) return { source: 'unknown', refused: [] };
  const scopes = stated.split(/\s*,\s*/);
  const refused = tools.flatMap((tool) => {
    const [, access, scope] = needs[tool] ?? [];
    // Public repositories are readable without a scope, and writable with a narrower one. `repo` includes
    // notifications.
    const isAllowed =
      scope === undefined ||
      scopes.includes(scope) ||
      scopes.includes('repo') ||
      (scope === 'repo' && (access === 'read' || scopes.includes('public_repo')));
    const or = scope === 'repo' ? '' : ' or repo';
    return isAllowed ? [] : [{ tool, needs: `scope ${scope}${or}` }];
  });
  return { source: 'scopes', refused };
}

export const toolNames = (chosen: readonly (keyof typeof sets)[]): readonly string[] =>
  chosen.flatMap((name) => sets[name].map((spec) => spec.name));
