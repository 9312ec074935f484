import { answer, toolError } from '@toolkeel/contract';
import {
  arrayOf,
  compact,
  headerOf,
  memberOf,
  numberOf,
  stringOf,
  type CallContext,
} from '@toolkeel/pack-kit';
import { documented } from '../client/document.js';
import { isReadOnly } from '../client/graphql-operation.js';
import {
  githubTool,
  invalidInput,
  listPage,
  listTool,
  member,
  rateLimitOf,
  repoOf,
  warningOf,
  withWarnings,
  type Kit,
} from './kit.js';
import {
  bytesIn,
  clip,
  commentOf,
  commitOf,
  issueDetail,
  issueSummary,
  pullDetail,
  pullSummary,
  releaseOf,
  type RawIssue,
  type RawPull,
  type Schemas,
} from './present.js';
import * as specs from './specs/index.js';
import { compareTool, listTreeTool } from './tree-reads.js';

/** Bytes. Leaves room for the rest of the answer in its byte budget. */
const MAX_TEXT = 40_000;

export const readTools = (kit: Kit) => [
  contextTool(kit),
  readFileTool(kit),
  listTreeTool(kit),
  listTool(specs.searchCode, kit, {
    items: 'matches',
    route: 'GET /search/code',
    accept: 'application/vnd.github.text-match+json',
    parameters: ({ query }) => ({ q: query }),
    itemsOf: member('items'),
    show: (item: Schemas['code-search-result-item']) => ({
      repo: item.repository.full_name,
      path: item.path,
      sha: item.sha,
      url: item.html_url,
      fragments: (item.text_matches ?? []).map(({ fragment = '' }) => clip(fragment, 1000)),
    }),
    extra: searchTotals,
  }),
  listTool(specs.listCommits, kit, {
    items: 'commits',
    route: 'GET /repos/{owner}/{repo}/commits',
    parameters: ({ repo, ref, path, author, since }) => ({
      ...repoOf(repo),
      sha: ref,
      path,
      author,
      since,
    }),
    show: commitOf,
  }),
  compareTool(kit),
  listTool(specs.searchIssues, kit, {
    items: 'issues',
    route: 'GET /search/issues',
    parameters: ({ query }) => ({ q: query }),
    itemsOf: member('items'),
    show: (issue: RawIssue) => issueSummary(issue),
    extra: searchTotals,
  }),
  githubTool(specs.getIssue, kit, (args, call) =>
    listPage(
      kit,
      {
        items: 'comments',
        route: 'GET /repos/{owner}/{repo}/issues/{number}/comments',
        parameters: ({ repo, number }) => ({ ...repoOf(repo), number }),
        show: commentOf,
        extra: call.cursor
          ? () => undefined
          : async () => ({ issue: await readIssue(kit, args, call) }),
      },
      args,
      call,
      call.cursor,
    ),
  ),
  listTool(specs.listPulls, kit, {
    items: 'pulls',
    route: 'GET /repos/{owner}/{repo}/pulls',
    parameters: ({ repo, state, head, base }) => {
      const { owner } = repoOf(repo);
      const isQualified = head === undefined || head.includes(':');
      return { ...repoOf(repo), state, base, head: isQualified ? head : `${owner}:${head}` };
    },
    show: (pull: Schemas['pull-request-simple']) => pullSummary(pull),
  }),
  getPullTool(kit),
  listTool(specs.listReleases, kit, {
    items: 'releases',
    route: 'GET /repos/{owner}/{repo}/releases',
    parameters: ({ repo }) => repoOf(repo),
    show: releaseOf,
  }),
  listTool(specs.listNotifications, kit, {
    items: 'notifications',
    route: 'GET /notifications',
    parameters: ({ all }) => ({ all }),
    show: (one: Schemas['thread']) => ({
      id: one.id,
      reason: one.reason,
      unread: one.unread,
      updated_at: one.updated_at,
      repo: one.repository.full_name,
      title: one.subject.title,
      type: one.subject.type,
      number: Number(/\/(?:issues|pulls)\/(\d+)$/.exec(one.subject.url ?? '')?.[1] ?? 0),
    }),
  }),
  githubTool(specs.rateLimitStatus, kit, async () => rateLimits(kit)),
  githubTool(specs.graphqlQuery, kit, async ({ query, variables = {} }, call) => {
    if (!isReadOnly(query))
      return invalidInput('query', 'must contain queries only; use the other tools for changes');
    const { data, errors } = await kit.client.graphql(query, variables, call);
    const shown = errors.length > 0 ? { data, errors } : { data };
    return answer(shown as never, { rateLimit: rateLimitOf(kit, 'graphql') });
  }),
];

function searchTotals(data: unknown) {
  const isIncomplete = memberOf(data, 'incomplete_results') === true;
  return compact({
    total: numberOf(memberOf(data, 'total_count')),
    warnings: isIncomplete ? ['GitHub stopped the search early: results are missing.'] : undefined,
  });
}

async function readIssue(
  { client }: Kit,
  { repo, number }: { readonly repo: string; readonly number: number },
  call: CallContext,
) {
  const at = { ...repoOf(repo), number };
  const route = 'GET /repos/{owner}/{repo}/issues/{number}';
  return documented(await client.read<RawIssue>(route, at, call), issueDetail);
}

function rateLimits({ client }: Kit) {
  const { budgets, blockedUntil, plannedUntil } = client.rateLimits();
  const iso = (at: number): string => new Date(at).toISOString();
  return {
    budgets: budgets.map(({ resource, limit, remaining, reset }) => ({
      resource,
      limit,
      remaining,
      reset: iso(reset * 1000),
    })),
    ...(blockedUntil !== undefined && { held_back_until: iso(blockedUntil) }),
    ...(plannedUntil !== undefined && { own_mutations_planned_until: iso(plannedUntil) }),
    ...(budgets.length === 0 && { note: 'No response has reported a limit yet.' }),
  };
}

const contextTool = (kit: Kit) =>
  githubTool(specs.getContext, kit, async ({ repo }, call) => {
    const { client } = kit;
    const { login, id } = await kit.identity.resolve(call);
    const account = { acts_as: login ?? id, api: client.baseUrl.href };
    if (repo === undefined) return account;
    const route = 'GET /repos/{owner}/{repo}';
    const found = await client.read<Schemas['full-repository']>(route, repoOf(repo), call);
    return {
      ...account,
      ...compact({ scopes: headerOf(found.headers, 'x-oauth-scopes') }),
      repo: documented(found, (data) => {
        const { permissions = {} } = data as { permissions?: Readonly<Record<string, boolean>> };
        return {
          name: data.full_name,
          description: data.description ?? '',
          default_branch: data.default_branch,
          visibility: data.visibility ?? 'public',
          archived: data.archived ?? false,
          permissions: Object.keys(permissions).filter((name) => permissions[name]),
        };
      }),
    };
  });

interface FileContent {
  readonly type: string;
  readonly sha: string;
  readonly size: number;
  readonly path: string;
  readonly content?: string;
  readonly encoding?: string;
}

const readFileTool = (kit: Kit) =>
  githubTool(specs.readFile, kit, async (args, call) => {
    const { path, ref, start_line: first = 1, end_line: last = Infinity } = args;
    const at = repoOf(args.repo);
    const route = 'GET /repos/{owner}/{repo}/contents/{path}';
    const response = await kit.client.read<FileContent>(route, { ...at, path, ref }, call);
    const { data } = response;
    if (Array.isArray(data)) return notAFile(path, 'a folder; use github_list_tree');
    const { type, ...about } = documented(response, (file) => ({
      type: file.type,
      path: file.path,
      sha: file.sha,
      size: file.size,
    }));
    if (type !== 'file') return notAFile(path, `a ${type}`);
    const bytes = await contentOf(kit, args.repo, data, call);
    if (isBinary(bytes)) return { text: '', is_binary: true, ...about };
    return { ...windowOf(bytes.toString(), first, last), ...about };
  });

const notAFile = (path: string, what: string) =>
  toolError('upstream_rejected', `${path} is ${what}.`, { details: { reason: `it is ${what}` } });

/** Files above 1 MB come as blobs. */
async function contentOf(kit: Kit, repo: string, file: FileContent, call: CallContext) {
  if (file.encoding === 'base64') return Buffer.from(file.content ?? '', 'base64');
  const at = { ...repoOf(repo), sha: file.sha };
  const route = 'GET /repos/{owner}/{repo}/git/blobs/{sha}';
  const blob = await kit.client.read<FileContent>(route, at, call, { maxBytes: MAX_BLOB });
  return Buffer.from(
    documented(blob, ({ content }) => content ?? ''),
    'base64',
  );
}

const MAX_BLOB = 32 * 1024 * 1024;

function isBinary(bytes: Buffer): boolean {
  if (bytes.subarray(0, 8000).includes(0)) return true;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return false;
  } catch {
    return true;
  }
}

/** The requested lines, as many as fit. */
function windowOf(text: string, first: number, last: number) {
  const lines = text.split('\n');
  const total = text === '' || text.endsWith('\n') ? lines.length - 1 : lines.length;
  let end = first - 1;
  let length = 0;
  while (end < Math.min(total, last)) {
    length += bytesIn(lines[end] ?? '');
    if (length > MAX_TEXT && end >= first) break;
    end += 1;
  }
  const isWhole = first === 1 && end === total;
  const chosen = isWhole ? text : lines.slice(first - 1, end).join('\n');
  const shown = clip(chosen, MAX_TEXT);
  // Only a line that is longer than an answer is cut, and then it is the only one.
  const cut = `Line ${first} has ${chosen.length} characters; only the first ${shown.length} are shown.`;
  return {
    text: shown,
    total_lines: total,
    ...withWarnings(shown.length < chosen.length ? [cut] : []),
    ...(end < first && !isWhole && withWarnings([`There is no such line: ${total} in all.`])),
    ...(end >= first && !isWhole && { start_line: first, end_line: end }),
    ...(end < Math.min(total, last) && { next_line: end + 1 }),
  };
}

const getPullTool = (kit: Kit) =>
  githubTool(specs.getPull, kit, async ({ repo, number }, call) => {
    const { client } = kit;
    const at = { ...repoOf(repo), number };
    const route = 'GET /repos/{owner}/{repo}/pulls/{number}';
    const pull = documented(await client.read<RawPull>(route, at, call), pullDetail);
    const warnings: string[] = [];
    const checks = await checksOf(kit, repo, pull.head_sha, call).catch((cause: unknown) => {
      warnings.push(warningOf('The checks could not be read', cause));
      return undefined;
    });
    const { total = 0, counted = 0 } = checks ?? {};
    if (total > counted) warnings.push(`Only ${counted} of ${total} checks were counted.`);
    return { pull, ...compact({ checks }), ...withWarnings(warnings) };
  });

async function checksOf({ client }: Kit, repo: string, ref: string, call: CallContext) {
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
  const { data } = await client.read(route, { ...repoOf(repo), ref, per_page: 100 }, call);
  const runs = arrayOf(memberOf(data, 'check_runs')).map((run) => ({
    name: stringOf(memberOf(run, 'name')) ?? '',
    state: stringOf(memberOf(run, 'conclusion')) ?? stringOf(memberOf(run, 'status')) ?? '',
  }));
  const isFine = ({ state }: { readonly state: string }): boolean =>
    ['success', 'neutral', 'skipped'].includes(state);
  return {
    total: numberOf(memberOf(data, 'total_count')) ?? runs.length,
    counted: runs.length,
    passed: runs.filter(isFine).length,
    others: runs.filter((run) => !isFine(run)).slice(0, 30),
  };
}
