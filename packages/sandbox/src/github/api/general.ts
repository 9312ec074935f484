import * as z from 'zod';
import type { Json, JsonObject } from '../../json.js';
import { iso, releaseJson, repoJson, userJson } from '../present.js';
import { invalid, notFound, problem } from '../problems.js';
import type { Repo } from '../world.js';
import {
  commitAct,
  paged,
  repoRoute,
  requirePush,
  resolveRef,
  route,
  type ApiRoute,
  type Call,
  type Reply,
} from './call.js';
import { searchCode, searchIssues } from './search.js';

const appJson = (call: Call): JsonObject => ({
  id: call.auth.app().appId,
  slug: 'toolkeel-sandbox',
  name: 'Toolkeel sandbox',
  owner: userJson(call.caller.account),
  permissions: { contents: 'write', issues: 'write', metadata: 'read', pull_requests: 'write' },
});

const resources = ['core', 'search', 'code_search', 'graphql'] as const;

export const generalRoutes: readonly ApiRoute[] = [
  route('user', 'GET /user', {}, ({ caller }) => {
    if (caller.kind !== 'user') throw problem(403, 'Resource not accessible by integration');
    return { json: { ...userJson(caller.account), name: caller.account.login } };
  }),
  route('rate-limit', 'GET /rate_limit', { auth: 'any' }, (call) => {
    if (call.flavour === 'ghes') throw problem(404, 'Rate limiting is not enabled.');
    const { login } = call.caller.account;
    const all = Object.fromEntries(
      resources.map((name) => [name, { ...call.limits.peek(login, name) }]),
    );
    return {
      json: { resources: all, ...(call.version < '2026-03-10' && { rate: all['core'] ?? {} }) },
    };
  }),
  route('app', 'GET /app', { auth: 'app' }, (call) => ({ json: appJson(call) })),
  route(
    'create-installation-token',
    'POST /app/installations/:id{[0-9]+}/access_tokens',
    { auth: 'app' },
    async (call) => {
      const { permissions, repositories } = await call.body(
        z.object({
          permissions: z.record(z.string(), z.enum(['read', 'write'])).optional(),
          repositories: z.array(z.string()).optional(),
        }),
      );
      const { token, expiresAt, ...minted } = call.auth.mint(Number(call.param('id')), {
        ...(permissions && { permissions }),
        ...(repositories && { repositories }),
      });
      return {
        status: 201,
        json: { token, expires_at: iso(expiresAt), permissions: { ...minted.permissions } },
      };
    },
  ),
  route('search-issues', 'GET /search/issues', { auth: 'any', resource: 'search' }, searchIssues),
  route('search-code', 'GET /search/code', { resource: 'code_search' }, searchCode),
  repoRoute('releases', 'GET /releases', 'contents:read', (call, repo) =>
    paged(call, repo.releases.toReversed(), (release) => releaseJson(repo, release)),
  ),
  repoRoute('release-by-tag', 'GET /releases/tags/:tag{.+}', 'contents:read', (call, repo) => {
    const found = repo.releases.find(({ tag, draft }) => tag === call.param('tag') && !draft);
    if (!found) throw notFound();
    return { json: releaseJson(repo, found) };
  }),
  repoRoute(
    'create-release',
    'POST /releases',
    { needs: 'contents:write', createsContent: true },
    createRelease,
  ),
  route('notifications', 'GET /notifications', {}, (call) => {
    if (call.caller.kind !== 'user') throw problem(403, 'Resource not accessible by integration');
    const all = call.query.get('all') === 'true';
    const own = call.world.notifications.filter(
      ({ login, unread }) => login === call.caller.account.login && (all || unread),
    );
    const reply = paged(call, own, ({ id, repo, reason, subject, unread, updatedAt }) => ({
      id,
      reason,
      unread,
      updated_at: iso(updatedAt),
      repository: repoJson(repo, true),
      subject: {
        title: subject.title,
        type: subject.type,
        url: `${call.apiUrl}/repos/${repo.fullName}/${subject.type === 'PullRequest' ? 'pulls' : 'issues'}/${subject.number}`,
      },
    }));
    return { ...reply, headers: { ...reply.headers, 'x-poll-interval': '60' } };
  }),
  route('read-notification', 'PATCH /notifications/threads/:id', {}, (call) => {
    const { login } = call.caller.account;
    const found = call.world.notifications.find(
      (one) => one.id === call.param('id') && one.login === login,
    );
    if (!found) throw notFound();
    if (!found.unread) return { status: 304 };
    found.unread = false;
    const { id } = found;
    commitAct(call, found.repo, { kind: 'notification.read', id, content: { id } });
    return { status: 205 };
  }),
  repoRoute('check-runs', 'GET /commits/:ref/check-runs', 'checks:read', checkRuns),
  repoRoute(
    'create-check-run',
    'POST /check-runs',
    { needs: 'checks:write', createsContent: true },
    async (call, repo) => {
      const given = await call.body(
        z.object({
          name: z.string(),
          head_sha: z.string(),
          external_id: z.string().default(''),
          status: z.string().default('queued'),
          conclusion: z.string().nullable().default(null),
        }),
      );
      if (call.caller.kind !== 'installation')
        throw problem(403, 'You must authenticate via a GitHub App.');
      const { name, head_sha: sha, external_id: externalId, status, conclusion } = given;
      const id = call.world.nextId();
      repo.checks.push({ id, name, sha, externalId, status, conclusion });
      commitAct(call, repo, { kind: 'check.created', id, content: given });
      return { status: 201, json: { id, name, head_sha: sha, external_id: externalId, status } };
    },
  ),
];

function checkRuns(call: Call, repo: Repo): Reply {
  const ref = call.param('ref');
  const sha = resolveRef(call, repo, ref);
  if (sha === undefined) throw invalid([], `No commit found for SHA: ${ref}`);
  const name = call.query.get('check_name');
  const found = repo.checks.filter(
    (one) => one.sha === sha && (name === null || one.name === name),
  );
  return paged(
    call,
    found,
    ({ id, name: named, externalId, status, conclusion }): Json => ({
      id,
      name: named,
      head_sha: sha,
      external_id: externalId,
      status,
      conclusion,
      html_url: `https://github.com/${repo.fullName}/runs/${id}`,
    }),
    (shown, total) => ({ total_count: total, check_runs: shown }),
  );
}

async function createRelease(call: Call, repo: Repo): Promise<Reply> {
  requirePush(call, repo);
  const given = await call.body(
    z.object({
      tag_name: z.string(),
      target_commitish: z.string().optional(),
      name: z.string().nullable().optional(),
      body: z.string().nullable().optional(),
      draft: z.boolean().default(false),
      prerelease: z.boolean().default(false),
    }),
  );
  const { tag_name: tag, draft } = given;
  // Drafts may share a tag.
  if (!draft && repo.releases.some((one) => one.tag === tag && !one.draft))
    throw invalid([{ resource: 'Release', field: 'tag_name', code: 'already_exists' }]);
  const target = given.target_commitish ?? repo.defaultBranch;
  const sha = resolveRef(call, repo, target);
  if (sha === undefined)
    throw invalid([{ resource: 'Release', field: 'target_commitish', code: 'invalid' }]);
  if (!draft && !repo.refs.has(`tags/${tag}`)) repo.refs.set(`tags/${tag}`, sha);
  const release = {
    id: call.world.nextId(),
    tag,
    name: given.name ?? tag,
    body: given.body ?? '',
    draft,
    prerelease: given.prerelease,
    target,
    createdAt: call.world.clock.now(),
  };
  repo.releases.push(release);
  const { id } = release;
  commitAct(call, repo, { kind: 'release.created', id, content: given });
  return { status: 201, json: releaseJson(repo, release) };
}
