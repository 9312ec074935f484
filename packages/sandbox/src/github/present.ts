import type { JsonObject } from '../json.js';
import { changesBetween, mergeFiles, patchOf, type FileChange } from './git.js';
import {
  filesAt,
  headOf,
  type Account,
  type Comment,
  type Issue,
  type Pull,
  type Release,
  type Repo,
  type Review,
  type ReviewComment,
  type Run,
  type World,
} from './world.js';

export const iso = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

const WEB = 'https://github.com';

export const nodeId = (kind: string, id: number): string =>
  `${kind}_${Buffer.from(`0:${id}`).toString('base64url')}`;

export const userJson = ({ id, login, type }: Account): JsonObject => ({
  login,
  id,
  node_id: nodeId('U', id),
  type,
  site_admin: false,
  html_url: `${WEB}/${login}`,
});

export function repoJson(repo: Repo, canPush: boolean): JsonObject {
  return {
    id: repo.id,
    node_id: nodeId('R', repo.id),
    name: repo.name,
    full_name: repo.fullName,
    private: repo.isPrivate,
    owner: userJson(repo.owner),
    html_url: `${WEB}/${repo.fullName}`,
    description: `The repository ${repo.name}`,
    default_branch: repo.defaultBranch,
    archived: false,
    has_issues: true,
    visibility: repo.isPrivate ? 'private' : 'public',
    allow_auto_merge: true,
    permissions: { admin: false, maintain: false, push: canPush, triage: canPush, pull: true },
  };
}

/** `assignee` exists only before version 2026-03-10. */
export function issueJson(world: World, repo: Repo, issue: Issue, version: string): JsonObject {
  const { labels, assignees, milestone, pull } = issue;
  const people = assignees.flatMap((login) => world.users.get(login.toLowerCase()) ?? []);
  const html = `${WEB}/${repo.fullName}/${pull ? 'pull' : 'issues'}/${issue.number}`;
  return {
    id: issue.id,
    node_id: nodeId(pull ? 'PR' : 'I', issue.id),
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    state_reason: issue.stateReason,
    user: userJson(issue.user),
    labels: labels.map((name) => ({
      id: repo.labels.get(name.toLowerCase())?.id ?? 0,
      name,
      color: repo.labels.get(name.toLowerCase())?.color ?? 'ededed',
      description: null,
      default: false,
    })),
    ...(version < '2026-03-10' && { assignee: people[0] ? userJson(people[0]) : null }),
    assignees: people.map(userJson),
    milestone:
      milestone === null
        ? null
        : { number: milestone, title: repo.milestones[milestone - 1]?.title ?? '' },
    comments: issue.comments.length,
    locked: false,
    created_at: iso(issue.createdAt),
    updated_at: iso(issue.updatedAt),
    closed_at: issue.closedAt === null ? null : iso(issue.closedAt),
    author_association: 'MEMBER',
    html_url: html,
    ...(pull && {
      draft: pull.draft,
      pull_request: {
        html_url: html,
        merged_at: pull.mergedAt === undefined ? null : iso(pull.mergedAt),
      },
    }),
    ...(issue.subIssues.length > 0 && {
      sub_issues_summary: { total: issue.subIssues.length, completed: 0, percent_completed: 0 },
    }),
  };
}

export const commentJson = (repo: Repo, issue: Issue, comment: Comment): JsonObject => ({
  id: comment.id,
  node_id: nodeId('IC', comment.id),
  user: userJson(comment.user),
  body: comment.body,
  created_at: iso(comment.createdAt),
  updated_at: iso(comment.createdAt),
  html_url: `${WEB}/${repo.fullName}/issues/${issue.number}#issuecomment-${comment.id}`,
});

/** The files that a pull request changes against the merge base. */
export function pullChanges(world: World, repo: Repo, pull: Pull): readonly FileChange[] {
  const head = headOf(repo, pull);
  const base = world.git.mergeBase(baseOf(repo, pull), head);
  return changesBetween(filesAt(world, base), filesAt(world, head));
}

const baseOf = (repo: Repo, pull: Pull): string =>
  (pull.mergedAt === undefined ? repo.refs.get(`heads/${pull.base}`) : undefined) ?? pull.baseSha;

export function isMergeable(world: World, repo: Repo, pull: Pull): boolean {
  const [base, head] = [baseOf(repo, pull), headOf(repo, pull)];
  const common = world.git.mergeBase(base, head);
  return (
    mergeFiles(filesAt(world, common), filesAt(world, base), filesAt(world, head)) !== undefined
  );
}

export function pullJson(
  world: World,
  repo: Repo,
  issue: Issue & { readonly pull: Pull },
  version: string,
  isWhole = true,
): JsonObject {
  const { pull } = issue;
  const head = headOf(repo, pull);
  const side = (ref: string, sha: string): JsonObject => ({
    label: `${repo.owner.login}:${ref}`,
    ref,
    sha,
    user: userJson(repo.owner),
    repo: repoJson(repo, true),
  });
  const {
    pull_request: _,
    comments,
    ...common
  } = issueJson(world, repo, issue, version) as JsonObject & { pull_request: JsonObject };
  const whole = (): JsonObject => {
    const patches = pullChanges(world, repo, pull).map((change) => patchOf(world.git, change));
    const sum = (of: 'additions' | 'deletions'): number =>
      patches.reduce((total, patch) => total + patch[of], 0);
    const mergeable = issue.state === 'open' && isMergeable(world, repo, pull);
    return {
      merged: pull.mergedAt !== undefined,
      mergeable,
      mergeable_state: mergeable ? 'clean' : 'dirty',
      comments: comments ?? 0,
      review_comments: pull.comments.length,
      commits: commitsOf(world, repo, pull).length,
      additions: sum('additions'),
      deletions: sum('deletions'),
      changed_files: patches.length,
    };
  };
  return {
    ...common,
    draft: pull.draft,
    merged_at: pull.mergedAt === undefined ? null : iso(pull.mergedAt),
    ...(version < '2026-03-10' && { merge_commit_sha: pull.mergeSha ?? null }),
    head: side(pull.head, head),
    base: side(pull.base, baseOf(repo, pull)),
    requested_reviewers: pull.reviewers.flatMap((login) => {
      const user = world.users.get(login.toLowerCase());
      return user ? [userJson(user)] : [];
    }),
    requested_teams: [],
    auto_merge: pull.autoMerge === undefined ? null : { merge_method: pull.autoMerge },
    ...(isWhole && whole()),
  };
}

function commitsOf(world: World, repo: Repo, pull: Pull): readonly string[] {
  const known = new Set(world.git.history(pull.baseSha));
  return world.git.history(headOf(repo, pull)).filter((sha) => !known.has(sha));
}

export function commitJson(world: World, repo: Repo, sha: string): JsonObject {
  const commit = world.git.commit(sha);
  if (!commit) return { sha };
  const { tree, parents, message, author } = commit;
  const person = { name: author.name, email: author.email, date: iso(author.date) };
  const user = world.users.get(author.name.toLowerCase());
  return {
    sha,
    node_id: `C_${sha}`,
    commit: { author: person, committer: person, message, tree: { sha: tree } },
    html_url: `${WEB}/${repo.fullName}/commit/${sha}`,
    author: user ? userJson(user) : null,
    committer: user ? userJson(user) : null,
    parents: parents.map((parent) => ({ sha: parent })),
  };
}

export function gitCommitJson(world: World, sha: string): JsonObject | undefined {
  const commit = world.git.commit(sha);
  if (!commit) return undefined;
  const { tree, parents, message, author } = commit;
  const person = { name: author.name, email: author.email, date: iso(author.date) };
  return {
    sha,
    tree: { sha: tree },
    parents: parents.map((parent) => ({ sha: parent })),
    message,
    author: person,
    committer: person,
  };
}

export function fileJson(world: World, change: FileChange): JsonObject {
  const { path, status, after, before } = change;
  const { additions, deletions, text } = patchOf(world.git, change);
  return {
    sha: (after ?? before)?.sha ?? '',
    filename: path,
    status,
    additions,
    deletions,
    changes: additions + deletions,
    ...(text !== undefined && { patch: text }),
  };
}

export const reviewJson = (repo: Repo, issue: Issue, review: Review): JsonObject => ({
  id: review.id,
  node_id: nodeId('PRR', review.id),
  user: userJson(review.user),
  body: review.body,
  state: review.state,
  commit_id: review.commitId,
  ...(review.state !== 'PENDING' && { submitted_at: iso(review.createdAt) }),
  html_url: `${WEB}/${repo.fullName}/pull/${issue.number}#pullrequestreview-${review.id}`,
});

export const reviewCommentJson = (
  repo: Repo,
  issue: Issue,
  comment: ReviewComment,
): JsonObject => ({
  id: comment.id,
  node_id: nodeId('PRRC', comment.id),
  pull_request_review_id: comment.reviewId,
  user: userJson(comment.user),
  body: comment.body,
  path: comment.path,
  line: comment.line,
  side: comment.side,
  commit_id: comment.commitId,
  ...(comment.inReplyTo !== undefined && { in_reply_to_id: comment.inReplyTo }),
  created_at: iso(comment.createdAt),
  updated_at: iso(comment.createdAt),
  html_url: `${WEB}/${repo.fullName}/pull/${issue.number}#discussion_r${comment.id}`,
});

export const releaseJson = (repo: Repo, release: Release): JsonObject => ({
  id: release.id,
  tag_name: release.tag,
  name: release.name,
  body: release.body,
  draft: release.draft,
  prerelease: release.prerelease,
  target_commitish: release.target,
  created_at: iso(release.createdAt),
  published_at: release.draft ? null : iso(release.createdAt),
  html_url: `${WEB}/${repo.fullName}/releases/tag/${release.tag}`,
  assets: [],
});

export function runJson(repo: Repo, run: Run): JsonObject {
  const workflow = repo.workflows.find(({ id }) => id === run.workflow);
  return {
    id: run.id,
    name: workflow?.name ?? '',
    path: workflow?.path ?? '',
    workflow_id: run.workflow,
    run_number: run.number,
    run_attempt: run.attempt,
    head_branch: run.branch,
    head_sha: run.sha,
    event: run.event,
    status: run.status,
    conclusion: run.conclusion,
    created_at: iso(run.createdAt),
    updated_at: iso(run.updatedAt),
    html_url: `${WEB}/${repo.fullName}/actions/runs/${run.id}`,
  };
}
