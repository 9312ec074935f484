import * as z from 'zod';
import type { Json, JsonObject } from '../../json.js';
import { iso, releaseJson, repoJson, userJson } from '../present.js';
import { invalid, notFound, problem } from '../problems.js';
import {
  canPush,
  canSee,
  commitAct,
  paged,
  repoOf,
  requirePush,
  resolveRef,
  type ApiRoute,
  type Call,
  type Reply,
} from './call.js';
import { searchCode, searchIssues } from './search.js';

const REPO = '/repos/:owner/:repo';

const appJson = (call: Call): JsonObject => ({
  id: call.auth.app().appId,
  slug: 'toolkeel-sandbox',
  name: 'Toolkeel sandbox',
  owner: userJson(call.caller.account),
  permissions: { contents: 'write', issues: 'write', metadata: 'read', pull_requests: 'write' },
});

const installationJson = (call: Call): JsonObject => ({
  id: call.auth.app().installationId,
  app_id: call.auth.app().appId,
  account: userJson(call.caller.account),
  repository_selection: 'all',
});

const resources = ['core', 'search', 'code_search', 'graphql'] as const;

export const generalRoutes: readonly ApiRoute[] = [
  {
    name: 'user',
    method: 'GET',
    path: '/user',
    auth: 'token',
    handle: ({ caller }) => {
      if (caller.kind !== 'user') throw problem(403, 'Resource not accessible by integration');
      return { json: { ...userJson(caller.account), name: caller.account.login } };
    },
  },
  {
    name: 'rate-limit',
    method: 'GET',
    path: '/rate_limit',
    auth: 'any',
    handle: (call) => {
      if (call.flavour === 'ghes') throw problem(404, 'Rate limiting is not enabled.');
      const { login } = call.caller.account;
      const all = Object.fromEntries(
        resources.map((name) => [name, { ...call.limits.peek(login, name) }]),
      );
      return {
        json: { resources: all, ...(call.version < '2026-03-10' && { rate: all['core'] ?? {} }) },
      };
    },
  },
  {
    name: 'app',
    method: 'GET',
    path: '/app',
    auth: 'app',
    handle: (call) => ({ json: appJson(call) }),
  },
  {
    name: 'installations',
    method: 'GET',
    path: '/app/installations',
    auth: 'app',
    handle: (call) => paged(call, [call], installationJson),
  },
  {
    name: 'installation',
    method: 'GET',
    path: '/app/installations/:id{[0-9]+}',
    auth: 'app',
    handle: (call) => {
      if (Number(call.param('id')) !== call.auth.app().installationId) throw notFound();
      return { json: installationJson(call) };
    },
  },
  {
    name: 'create-installation-token',
    method: 'POST',
    path: '/app/installations/:id{[0-9]+}/access_tokens',
    auth: 'app',
    handle: async (call) => {
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
  },
  {
    name: 'revoke-installation-token',
    method: 'DELETE',
    path: '/installation/token',
    handle: (call) => {
      call.auth.revoke(call.caller.token);
      return { status: 204 };
    },
  },
  {
    name: 'installation-repositories',
    method: 'GET',
    path: '/installation/repositories',
    handle: (call) =>
      paged(
        call,
        [...call.world.repos.values()].filter((repo) => canSee(call.caller, repo)),
        (repo) => repoJson(repo, canPush(call.caller, repo)),
        (shown, total) => ({ total_count: total, repositories: shown }),
      ),
  },
  {
    name: 'search-issues',
    method: 'GET',
    path: '/search/issues',
    auth: 'any',
    resource: 'search',
    handle: searchIssues,
  },
  {
    name: 'search-code',
    method: 'GET',
    path: '/search/code',
    resource: 'code_search',
    handle: searchCode,
  },
  {
    name: 'releases',
    method: 'GET',
    path: `${REPO}/releases`,
    auth: 'any',
    needs: ['contents', 'read'],
    handle: (call) => {
      const repo = repoOf(call);
      return paged(call, repo.releases.toReversed(), (release) => releaseJson(repo, release));
    },
  },
  {
    name: 'release-by-tag',
    method: 'GET',
    path: `${REPO}/releases/tags/:tag{.+}`,
    auth: 'any',
    needs: ['contents', 'read'],
    handle: (call) => {
      const repo = repoOf(call);
      const found = repo.releases.find(({ tag, draft }) => tag === call.param('tag') && !draft);
      if (!found) throw notFound();
      return { json: releaseJson(repo, found) };
    },
  },
  {
    name: 'create-release',
    method: 'POST',
    path: `${REPO}/releases`,
    needs: ['contents', 'write'],
    createsContent: true,
    handle: createRelease,
  },
  {
    name: 'notifications',
    method: 'GET',
    path: '/notifications',
    auth: 'token',
    handle: (call) => {
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
    },
  },
  {
    name: 'read-notification',
    method: 'PATCH',
    path: '/notifications/threads/:id',
    handle: (call) => {
      const { login } = call.caller.account;
      const found = call.world.notifications.find(
        (one) => one.id === call.param('id') && one.login === login,
      );
      if (!found) throw notFound();
      if (!found.unread) return { status: 304 };
      found.unread = false;
      const { id } = found;
      commitAct(call, {
        kind: 'notification.read',
        repo: found.repo.fullName,
        id,
        content: { id },
      });
      return { status: 205 };
    },
  },
  {
    name: 'check-runs',
    method: 'GET',
    path: `${REPO}/commits/:ref/check-runs`,
    auth: 'any',
    needs: ['checks', 'read'],
    handle: checkRuns,
  },
  {
    name: 'create-check-run',
    method: 'POST',
    path: `${REPO}/check-runs`,
    needs: ['checks', 'write'],
    createsContent: true,
    handle: async (call) => {
      const repo = repoOf(call);
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
      commitAct(call, { kind: 'check.created', repo: repo.fullName, id, content: given });
      return { status: 201, json: { id, name, head_sha: sha, external_id: externalId, status } };
    },
  },
];

function checkRuns(call: Call): Reply {
  const repo = repoOf(call);
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

async function createRelease(call: Call): Promise<Reply> {
  const repo = repoOf(call);
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
  commitAct(call, { kind: 'release.created', repo: repo.fullName, id, content: given });
  return { status: 201, json: releaseJson(repo, release) };
}
