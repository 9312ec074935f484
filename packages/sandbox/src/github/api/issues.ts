import * as z from 'zod';
import { commentJson, issueJson } from '../present.js';
import { custom, invalid, missingField, notFound } from '../problems.js';
import type { Issue, Repo } from '../world.js';
import {
  canPush,
  commitAct,
  cursorPaged,
  issueOf,
  paged,
  repoRoute,
  requirePush,
  type ApiRoute,
  type Call,
  type Reply,
} from './call.js';

const show = (call: Call, repo: Repo) => (issue: Issue) =>
  issueJson(call.world, repo, issue, call.version);

const names = z
  .array(z.union([z.string(), z.object({ name: z.string() })]))
  .transform((given) => given.map((one) => (typeof one === 'string' ? one : one.name)));

const issueSchema = z.object({
  title: z.union([z.string(), z.number()]).transform(String).optional(),
  body: z.string().nullable().optional(),
  labels: names.optional(),
  assignees: z.array(z.string()).optional(),
  milestone: z.number().nullable().optional(),
  state: z.enum(['open', 'closed']).optional(),
  state_reason: z.string().nullable().optional(),
});

type IssueHandler = (call: Call, repo: Repo, issue: Issue) => Reply | Promise<Reply>;

const issueRoute = (
  name: string,
  method: ApiRoute['method'],
  path: string,
  handle: IssueHandler,
  traits: Pick<ApiRoute, 'auth' | 'createsContent'> = {},
): ApiRoute =>
  repoRoute(
    name,
    `${method} /issues/:number{[0-9]+}${path}`,
    { needs: method === 'GET' ? 'issues:read' : 'issues:write', ...traits },
    (call, repo) => handle(call, repo, issueOf(call, repo)),
  );
const creates = { createsContent: true } as const;

export const issueRoutes: readonly ApiRoute[] = [
  repoRoute('issues', 'GET /issues', 'issues:read', listIssues),
  repoRoute('create-issue', 'POST /issues', { needs: 'issues:write', ...creates }, createIssue),
  issueRoute('issue', 'GET', '', (call, repo, issue) => ({ json: show(call, repo)(issue) })),
  issueRoute('update-issue', 'PATCH', '', updateIssue),
  issueRoute('add-labels', 'POST', '/labels', async (call, repo, issue) => {
    requirePush(call, repo);
    const { labels } = await call.body(z.object({ labels: names }));
    Object.assign(issue, settable(call, repo, { labels: [...issue.labels, ...labels] }));
    const { number } = issue;
    commitAct(call, repo, { kind: 'labels.added', number, content: { number, labels } });
    return { json: show(call, repo)(issue)['labels'] ?? [] };
  }),
  issueRoute('add-assignees', 'POST', '/assignees', async (call, repo, issue) => {
    requirePush(call, repo);
    const { assignees } = await call.body(z.object({ assignees: z.array(z.string()) }));
    const all = [...new Set([...issue.assignees, ...assignees])];
    Object.assign(issue, settable(call, repo, { assignees: all }));
    const { number } = issue;
    commitAct(call, repo, { kind: 'assignees.added', number, content: { number, assignees } });
    return { status: 201, json: show(call, repo)(issue) };
  }),
  issueRoute('issue-comments', 'GET', '/comments', (call, repo, issue) => {
    const since = Date.parse(call.query.get('since') ?? '') || 0;
    const comments = issue.comments.filter(({ createdAt }) => createdAt >= since);
    return paged(call, comments, (comment) => commentJson(repo, issue, comment));
  }),
  repoRoute('repo-comments', 'GET /issues/comments', 'issues:read', (call, repo) => {
    const since = Date.parse(call.query.get('since') ?? '') || 0;
    const all = [...repo.issues.values()]
      .flatMap((issue) => issue.comments.map((comment) => ({ issue, comment })))
      .filter(({ comment }) => comment.createdAt >= since)
      .toSorted((one, other) => one.comment.id - other.comment.id);
    const ordered = call.query.get('direction') === 'desc' ? all.toReversed() : all;
    return paged(call, ordered, ({ issue, comment }) => commentJson(repo, issue, comment));
  }),
  issueRoute('create-comment', 'POST', '/comments', createComment, creates),
  issueRoute('sub-issues', 'GET', '/sub_issues', listSubIssues, { auth: 'token' }),
  issueRoute('add-sub-issue', 'POST', '/sub_issues', changeSubIssues('added'), creates),
  issueRoute('remove-sub-issue', 'DELETE', '/sub_issue', changeSubIssues('removed')),
];

async function createComment(call: Call, repo: Repo, issue: Issue): Promise<Reply> {
  const { body } = await call.body(z.object({ body: z.string() }));
  if (body.trim() === '') throw missingField('IssueComment', 'body');
  const { world, caller } = call;
  const createdAt = world.clock.now();
  const comment = { id: world.nextId(), user: caller.account, body, createdAt };
  issue.comments.push(comment);
  issue.updatedAt = createdAt;
  const { number } = issue;
  const { id } = comment;
  commitAct(call, repo, { kind: 'comment.created', number, id, content: { number, body } });
  return { status: 201, json: commentJson(repo, issue, comment) };
}

function listSubIssues(call: Call, repo: Repo, { subIssues }: Issue): Reply {
  const children = subIssues.flatMap((number) => repo.issues.get(number) ?? []);
  return paged(call, children, show(call, repo));
}

/** Newest first, pull requests included, with cursors in `Link`. */
function listIssues(call: Call, repo: Repo): Reply {
  const { query } = call;
  const state = query.get('state') ?? 'open';
  const labels = (query.get('labels') ?? '').split(',').filter((name) => name !== '');
  const creator = query.get('creator');
  const since = Date.parse(query.get('since') ?? '') || 0;
  const found = [...repo.issues.values()].filter(
    (issue) =>
      (state === 'all' || issue.state === state) &&
      labels.every((name) => issue.labels.includes(name)) &&
      (creator === null || issue.user.login === creator) &&
      issue.updatedAt >= since,
  );
  const ordered = query.get('direction') === 'asc' ? found : found.toReversed();
  return cursorPaged(call, ordered, show(call, repo));
}

/** Users without push access cannot set these; GitHub drops them without an error. */
function settable(call: Call, repo: Repo, given: z.infer<typeof issueSchema>) {
  if (!canPush(call.caller, repo)) return {};
  const { labels, assignees, milestone } = given;
  for (const name of labels ?? [])
    if (!repo.labels.has(name.toLowerCase()))
      repo.labels.set(name.toLowerCase(), { id: call.world.nextId(), name, color: 'ededed' });
  if (typeof milestone === 'number' && !repo.milestones[milestone - 1])
    throw invalid([
      { resource: 'Issue', field: 'milestone', code: 'invalid', value: String(milestone) },
    ]);
  return {
    ...(labels && { labels: [...new Set(labels)] }),
    // Those who cannot be assigned are dropped too.
    ...(assignees && { assignees: assignees.filter((login) => repo.collaborators.has(login)) }),
    ...(milestone !== undefined && { milestone }),
  };
}

async function createIssue(call: Call, repo: Repo): Promise<Reply> {
  const given = await call.body(issueSchema);
  if (given.title === undefined || given.title.trim() === '') throw missingField('Issue', 'title');
  const issue = call.world.addIssue(repo, {
    user: call.caller.account,
    title: given.title,
    body: given.body ?? '',
    ...settable(call, repo, given),
  });
  const { number, title, body } = issue;
  commitAct(call, repo, { kind: 'issue.created', number, id: issue.id, content: { title, body } });
  return { status: 201, json: show(call, repo)(issue) };
}

async function updateIssue(call: Call, repo: Repo, issue: Issue): Promise<Reply> {
  const given = await call.body(issueSchema);
  if (issue.user !== call.caller.account && !canPush(call.caller, repo)) throw notFound();
  const { title, body, state, state_reason: reason } = given;
  const now = call.world.clock.now();
  Object.assign(issue, settable(call, repo, given), {
    ...(title !== undefined && { title }),
    ...(body !== undefined && { body: body ?? '' }),
    ...(state !== undefined && { state, closedAt: state === 'closed' ? now : null }),
    ...(state !== undefined && {
      stateReason: reason ?? (state === 'closed' ? 'completed' : null),
    }),
    updatedAt: now,
  });
  const { number } = issue;
  commitAct(call, repo, { kind: 'issue.updated', number, content: { number, given } });
  return { json: show(call, repo)(issue) };
}

/** The API takes database ids, not numbers. */
function changeSubIssues(change: 'added' | 'removed'): IssueHandler {
  return async (call, repo, issue) => {
    requirePush(call, repo);
    const { sub_issue_id: id } = await call.body(z.object({ sub_issue_id: z.number() }));
    const child = [...repo.issues.values()].find((one) => one.id === id);
    if (!child) throw notFound();
    const at = issue.subIssues.indexOf(child.number);
    if (change === 'added' && at >= 0)
      throw custom('Issue', 'Issue may not contain duplicate sub-issues', 'sub_issue_id');
    if (change === 'removed' && at < 0) throw notFound();
    if (change === 'added') issue.subIssues.push(child.number);
    else issue.subIssues.splice(at, 1);
    const { number } = issue;
    commitAct(call, repo, {
      kind: `sub-issue.${change}`,
      number,
      id: child.number,
      content: { number, child: child.number },
    });
    return { status: change === 'added' ? 201 : 200, json: show(call, repo)(issue) };
  };
}
