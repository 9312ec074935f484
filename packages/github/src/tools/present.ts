import type { components } from '@octokit/openapi-types';
import { compact } from '@toolkeel/pack-kit';
import { withoutMarkers } from '../client/markers.js';

export type Schemas = components['schemas'];

/** The bytes that a string takes in an answer, which is JSON in UTF-8. */
export const bytesIn = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** The longest beginning that takes at most `maxBytes` in an answer. */
export function clip(text: string, maxBytes: number): string {
  if (bytesIn(text) <= maxBytes) return text;
  let [fits, exceeds] = [0, Math.min(text.length, maxBytes)];
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2);
    if (bytesIn(text.slice(0, middle)) <= maxBytes) fits = middle;
    else exceeds = middle;
  }
  // Not in the middle of a surrogate pair.
  return text.slice(0, /[\uD800-\uDBFF]/.test(text[fits - 1] ?? '') ? fits - 1 : fits);
}

const MAX_BODY = 12_000;

/** A body without our markers, clipped so that one item cannot fill an answer. */
export function bodyOf(body: string | null | undefined, maxBytes = MAX_BODY) {
  const text = withoutMarkers(body ?? '');
  const shown = clip(text, maxBytes);
  return shown.length === text.length
    ? { body: text }
    : { body: shown, body_truncated: true as const, body_length: text.length };
}

const login = (user: { readonly login: string } | null | undefined): string | undefined =>
  user?.login;

export function labelNames(labels: Schemas['issue']['labels']): string[] {
  return labels.flatMap((label) => (typeof label === 'string' ? label : (label.name ?? [])));
}

export type RawIssue = Schemas['issue'];

// Of every document, only what identifies it is required; `documented` refuses one without it.

export const issueSummary = (issue: RawIssue) => ({
  number: issue.number,
  ...compact({
    title: issue.title,
    state: issue.state,
    state_reason: issue.state_reason ?? undefined,
    is_pull_request: issue.pull_request ? true : undefined,
    author: login(issue.user),
    labels: labelNames(issue.labels),
    assignees: (issue.assignees ?? []).map((user) => user.login),
    milestone: issue.milestone?.title,
    comments: issue.comments,
    created_at: issue.created_at,
    updated_at: issue.updated_at,
    url: issue.html_url,
    repo: issue.repository_url?.split('/repos/')[1],
  }),
});

export const issueDetail = (issue: RawIssue) => ({
  ...issueSummary(issue),
  ...bodyOf(issue.body, 20_000),
});

export const commentOf = (comment: Schemas['issue-comment']) => ({
  id: comment.id,
  author: login(comment.user) ?? '',
  ...compact({ created_at: comment.created_at, url: comment.html_url }),
  ...bodyOf(comment.body),
});

export type RawPull = Schemas['pull-request'];

export const pullSummary = (pull: RawPull | Schemas['pull-request-simple']) => ({
  number: pull.number,
  head_sha: pull.head.sha,
  ...compact({
    title: pull.title,
    state: pull.state,
    draft: pull.draft ? true : undefined,
    merged_at: pull.merged_at ?? undefined,
    author: login(pull.user),
    head: pull.head.label ?? pull.head.ref,
    base: pull.base.ref,
    labels: pull.labels.map((label) => label.name),
    reviewers: (pull.requested_reviewers ?? []).map((user) => ('login' in user ? user.login : '')),
    auto_merge: pull.auto_merge?.merge_method,
    updated_at: pull.updated_at,
    url: pull.html_url,
  }),
});

export const pullDetail = (pull: RawPull) => ({
  ...pullSummary(pull),
  ...compact({
    merged: pull.merged,
    mergeable: pull.mergeable ?? undefined,
    mergeable_state: pull.mergeable_state,
    commits: pull.commits,
    changed_files: pull.changed_files,
    additions: pull.additions,
    deletions: pull.deletions,
  }),
  ...bodyOf(pull.body, 20_000),
});

export const commitOf = (commit: Schemas['commit']) => ({
  sha: commit.sha,
  ...compact({
    message: clip(commit.commit.message, 2000),
    author:
      commit.author && 'login' in commit.author ? commit.author.login : commit.commit.author?.name,
    date: commit.commit.author?.date,
    url: commit.html_url,
  }),
});

const MAX_PATCH = 30_000;

export const fileOf = (file: Schemas['diff-entry']) => ({
  path: file.filename,
  ...compact({
    previous_path: file.previous_filename,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    patch: file.patch === undefined ? undefined : clip(file.patch, MAX_PATCH),
    patch_truncated: bytesIn(file.patch ?? '') > MAX_PATCH ? true : undefined,
  }),
});

export const reviewOf = (review: Schemas['pull-request-review']) => ({
  id: review.id,
  ...compact({
    author: login(review.user),
    state: review.state,
    commit_id: review.commit_id ?? undefined,
    submitted_at: review.submitted_at,
    url: review.html_url,
  }),
  ...bodyOf(review.body),
});

export const releaseOf = (release: Schemas['release']) => ({
  tag: release.tag_name,
  ...compact({
    name: release.name ?? undefined,
    draft: release.draft ? true : undefined,
    prerelease: release.prerelease ? true : undefined,
    target: release.target_commitish,
    published_at: release.published_at ?? undefined,
    url: release.html_url,
  }),
  ...bodyOf(release.body, 4000),
});

export const runOf = (run: Schemas['workflow-run']) => ({
  run_id: run.id,
  ...compact({
    name: run.name ?? undefined,
    number: run.run_number,
    attempt: run.run_attempt,
    event: run.event,
    branch: run.head_branch ?? undefined,
    head_sha: run.head_sha,
    status: run.status ?? undefined,
    conclusion: run.conclusion ?? undefined,
    created_at: run.created_at,
    updated_at: run.updated_at,
    url: run.html_url,
  }),
});

export const jobOf = (job: Schemas['job']) => ({
  job_id: job.id,
  ...compact({
    name: job.name,
    status: job.status,
    conclusion: job.conclusion ?? undefined,
    failed_steps: (job.steps ?? [])
      .filter((step) => step.conclusion === 'failure')
      .map((step) => step.name),
  }),
});
