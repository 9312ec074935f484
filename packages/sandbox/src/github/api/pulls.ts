import * as z from 'zod';
import { diffOf } from '../git.js';
import { fileJson, pullChanges, pullJson, reviewCommentJson, reviewJson } from '../present.js';
import { custom, GithubProblem, invalid, missingField, notFound, problem } from '../problems.js';
import { headOf, type Issue, type Pull, type Repo, type ReviewComment } from '../world.js';
import {
  commitAct,
  numberIn,
  paged,
  pullOf,
  repoRoute,
  requirePush,
  resolveRef,
  type ApiRoute,
  type Call,
  type Reply,
} from './call.js';
import { merge } from './merge.js';
import { noCommits } from './repos.js';

type PullIssue = Issue & { readonly pull: Pull };

const isPull = (issue: Issue): issue is PullIssue => issue.pull !== undefined;

const show =
  (call: Call, repo: Repo, isWhole = true) =>
  (issue: PullIssue) =>
    pullJson(call.world, repo, issue, call.version, isWhole);

type PullHandler = (call: Call, repo: Repo, issue: PullIssue) => Reply | Promise<Reply>;

const pullRoute = (
  name: string,
  method: ApiRoute['method'],
  path: string,
  handle: PullHandler,
): ApiRoute =>
  repoRoute(
    name,
    `${method} /pulls/:number{[0-9]+}${path}`,
    {
      needs: method === 'GET' ? 'pull_requests:read' : 'pull_requests:write',
      ...(method === 'POST' && { createsContent: true }),
    },
    (call, repo) => handle(call, repo, pullOf(call, repo)),
  );
const list = (name: string, path: string, handle: PullHandler): ApiRoute =>
  pullRoute(name, 'GET', path, handle);

const MAX_FILES = 3000;

export const pullRoutes: readonly ApiRoute[] = [
  repoRoute('pulls', 'GET /pulls', 'pull_requests:read', (call, repo) => {
    const { query } = call;
    const [state, head, base] = [
      query.get('state') ?? 'open',
      query.get('head'),
      query.get('base'),
    ];
    const found = [...repo.issues.values()]
      .filter(isPull)
      .filter(
        (issue) =>
          (state === 'all' || issue.state === state) &&
          (head === null || head === `${repo.owner.login}:${issue.pull.head}`) &&
          (base === null || base === issue.pull.base),
      );
    const ordered = query.get('direction') === 'asc' ? found : found.toReversed();
    return paged(call, ordered, show(call, repo, false));
  }),
  repoRoute(
    'create-pull',
    'POST /pulls',
    { needs: 'pull_requests:write', createsContent: true },
    createPull,
  ),
  list('pull', '', (call, repo, issue) => {
    if (!call.accept.includes('diff')) return { json: show(call, repo)(issue) };
    const changes = pullChanges(call.world, repo, issue.pull);
    if (changes.length > call.maxDiffFiles) throw tooLarge(call.maxDiffFiles);
    const body = diffOf(call.world.git, changes);
    return { text: { type: 'application/vnd.github.diff; charset=utf-8', body } };
  }),
  pullRoute('update-pull', 'PATCH', '', updatePull),
  list('pull-files', '/files', (call, repo, issue) =>
    paged(call, pullChanges(call.world, repo, issue.pull).slice(0, MAX_FILES), (change) =>
      fileJson(call.world, change),
    ),
  ),
  list('reviews', '/reviews', (call, repo, issue) =>
    paged(call, issue.pull.reviews, (review) => reviewJson(repo, issue, review)),
  ),
  list('review-comments', '/comments', (call, repo, issue) =>
    paged(
      call,
      call.query.get('direction') === 'desc'
        ? issue.pull.comments.toReversed()
        : issue.pull.comments,
      (comment) => reviewCommentJson(repo, issue, comment),
    ),
  ),
  pullRoute('create-review', 'POST', '/reviews', createReview),
  pullRoute('reply-review-comment', 'POST', '/comments/:comment{[0-9]+}/replies', replyToComment),
  pullRoute('request-reviewers', 'POST', '/requested_reviewers', requestReviewers),
  pullRoute('remove-reviewers', 'DELETE', '/requested_reviewers', removeReviewers),
  repoRoute('merge-pull', 'PUT /pulls/:number{[0-9]+}/merge', 'contents:write', merge),
];

function tooLarge(files: number): GithubProblem {
  const message = `Sorry, the diff exceeded the maximum number of files (${files}). Consider using 'List pull requests files' API or locally cloning the repository instead.`;
  return new GithubProblem(406, {
    message,
    errors: [{ resource: 'PullRequest', field: 'diff', code: 'too_large' }],
    documentation_url: 'https://docs.github.com/rest/pulls/pulls#list-pull-requests-files',
    status: '406',
  });
}

async function createPull(call: Call, repo: Repo): Promise<Reply> {
  requirePush(call, repo);
  const given = await call.body(
    z.object({
      title: z.string().optional(),
      body: z.string().nullable().optional(),
      head: z.string(),
      base: z.string(),
      draft: z.boolean().default(false),
    }),
  );
  const head = given.head.replace(`${repo.owner.login}:`, '');
  const field = (name: string) =>
    invalid([{ resource: 'PullRequest', field: name, code: 'invalid' }]);
  const [headSha, baseSha] = [resolveRef(call, repo, head), resolveRef(call, repo, given.base)];
  if (headSha === undefined) throw field('head');
  if (baseSha === undefined) throw field('base');
  if (given.title === undefined || given.title === '') throw missingField('PullRequest', 'title');
  const exists = [...repo.issues.values()].some(
    ({ pull, state }) => state === 'open' && pull?.head === head && pull.base === given.base,
  );
  if (exists)
    throw custom('PullRequest', `A pull request already exists for ${repo.owner.login}:${head}.`);
  if (call.world.git.history(baseSha).includes(headSha)) throw noCommits(given.base, head);
  const issue = call.world.addIssue(repo, {
    user: call.caller.account,
    title: given.title,
    body: given.body ?? '',
    pull: newPull(head, given.base, headSha, baseSha, given.draft),
  }) as PullIssue;
  const { number, title } = issue;
  commitAct(call, repo, {
    kind: 'pull.created',
    number,
    id: issue.id,
    content: { head, base: given.base, title },
  });
  return { status: 201, json: show(call, repo)(issue) };
}

export const newPull = (
  head: string,
  base: string,
  headSha: string,
  baseSha: string,
  draft = false,
): Pull => ({
  head,
  base,
  headSha,
  baseSha,
  draft,
  reviewers: [],
  reviews: [],
  comments: [],
  threads: [],
});

async function updatePull(call: Call, repo: Repo, issue: PullIssue): Promise<Reply> {
  requirePush(call, repo);
  const given = await call.body(
    z.object({
      title: z.string().optional(),
      body: z.string().nullable().optional(),
      state: z.enum(['open', 'closed']).optional(),
      base: z.string().optional(),
    }),
  );
  const { title, body, state, base } = given;
  if (base !== undefined) {
    if (!repo.refs.has(`heads/${base}`))
      throw invalid([{ resource: 'PullRequest', field: 'base', code: 'invalid' }]);
    issue.pull.base = base;
  }
  if (state === 'open' && issue.pull.mergedAt !== undefined)
    throw custom('PullRequest', 'state cannot be changed. The pull request is merged.', 'state');
  Object.assign(issue, {
    ...(title !== undefined && { title }),
    ...(body !== undefined && { body: body ?? '' }),
    ...(state !== undefined && { state }),
    updatedAt: call.world.clock.now(),
  });
  const { number } = issue;
  commitAct(call, repo, { kind: 'pull.updated', number, content: { number, given } });
  return { json: show(call, repo)(issue) };
}

const reviewSchema = z.object({
  commit_id: z.string().optional(),
  body: z.string().nullable().optional(),
  event: z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT']).optional(),
  comments: z
    .array(
      z.object({
        path: z.string(),
        body: z.string(),
        line: z.number().optional(),
        side: z.enum(['LEFT', 'RIGHT']).default('RIGHT'),
      }),
    )
    .default([]),
});

const states = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' };

async function createReview(call: Call, repo: Repo, issue: PullIssue): Promise<Reply> {
  const given = await call.body(reviewSchema);
  const { world, caller } = call;
  const { pull, number } = issue;
  const unprocessable = (reason: string) => invalid([reason], 'Unprocessable Entity');
  const own = issue.user.login === caller.account.login;
  if (own && given.event === 'APPROVE')
    throw unprocessable('Can not approve your own pull request');
  if (own && given.event === 'REQUEST_CHANGES')
    throw unprocessable('Can not request changes on your own pull request');
  if (given.event === undefined && pull.reviews.some(({ state }) => state === 'PENDING'))
    throw unprocessable('User can only have one pending review per pull request');
  const commitId = given.commit_id ?? headOf(repo, pull);
  if (!world.git.commit(commitId)) throw unprocessable('commit_id is not part of the pull request');
  const changed = new Set(pullChanges(world, repo, pull).map(({ path }) => path));
  for (const { path, line } of given.comments) {
    if (!changed.has(path)) throw unprocessable('Path could not be resolved');
    if (line === undefined) throw unprocessable('Line could not be resolved');
  }
  if (
    given.event !== undefined &&
    given.event !== 'APPROVE' &&
    !given.body &&
    given.comments.length === 0
  )
    throw unprocessable('Review must have a body or comments');
  const createdAt = world.clock.now();
  const review = {
    id: world.nextId(),
    user: caller.account,
    body: given.body ?? '',
    createdAt,
    state: (given.event ? states[given.event] : 'PENDING') as 'APPROVED',
    commitId,
  };
  pull.reviews.push(review);
  for (const { path, body, line = 1, side } of given.comments)
    addReviewComment(call, pull, { path, body, line, side, commitId, reviewId: review.id });
  commitAct(call, repo, {
    kind: 'review.created',
    number,
    id: review.id,
    content: { number, given },
  });
  return { json: reviewJson(repo, issue, review) };
}

export function addReviewComment(
  { world, caller }: Pick<Call, 'world'> & { readonly caller: Pick<Call['caller'], 'account'> },
  pull: Pull,
  given: Omit<ReviewComment, 'id' | 'user' | 'createdAt'>,
): ReviewComment {
  const id = world.nextId();
  const comment = { ...given, id, user: caller.account, createdAt: world.clock.now() };
  pull.comments.push(comment);
  if (given.inReplyTo === undefined)
    pull.threads.push({ id: `PRRT_${id}`, root: id, resolved: false });
  return comment;
}

async function replyToComment(call: Call, repo: Repo, issue: PullIssue): Promise<Reply> {
  const root = issue.pull.comments.find(({ id }) => id === numberIn(call, 'comment'));
  if (!root || root.inReplyTo !== undefined) throw notFound();
  const { body } = await call.body(z.object({ body: z.string() }));
  const { path, line, side, commitId, reviewId } = root;
  const at = { path, line, side, commitId, reviewId, inReplyTo: root.id };
  const comment = addReviewComment(call, issue.pull, { ...at, body });
  const { number } = issue;
  commitAct(call, repo, {
    kind: 'review-comment.created',
    number,
    id: comment.id,
    content: { number, reply: root.id, body },
  });
  return { status: 201, json: reviewCommentJson(repo, issue, comment) };
}

const reviewersSchema = z.object({ reviewers: z.array(z.string()).default([]) });

async function requestReviewers(call: Call, repo: Repo, issue: PullIssue): Promise<Reply> {
  requirePush(call, repo);
  const { reviewers } = await call.body(reviewersSchema);
  if (reviewers.includes(issue.user.login))
    throw problem(422, 'Review cannot be requested from pull request author.');
  if (reviewers.some((login) => !repo.collaborators.has(login)))
    throw problem(
      422,
      `Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the ${repo.fullName} repository.`,
    );
  for (const login of reviewers)
    if (!issue.pull.reviewers.includes(login)) issue.pull.reviewers.push(login);
  const { number } = issue;
  commitAct(call, repo, { kind: 'reviewers.requested', number, content: { number, reviewers } });
  return { status: 201, json: show(call, repo)(issue) };
}

async function removeReviewers(call: Call, repo: Repo, issue: PullIssue): Promise<Reply> {
  requirePush(call, repo);
  const { reviewers } = await call.body(reviewersSchema);
  const kept = issue.pull.reviewers.filter((login) => !reviewers.includes(login));
  issue.pull.reviewers.splice(0, issue.pull.reviewers.length, ...kept);
  const { number } = issue;
  commitAct(call, repo, { kind: 'reviewers.removed', number, content: { number, reviewers } });
  return { json: show(call, repo)(issue) };
}
