import type { JsonObject } from '../../json.js';
import { changesBetween, diffOf, typeOf, type FileEntry } from '../git.js';
import { commitJson, fileJson, gitCommitJson, repoJson } from '../present.js';
import { custom, invalid, notFound, problem } from '../problems.js';
import { filesAt, type Repo } from '../world.js';
import {
  canPush,
  paged,
  repoRoute,
  resolveRef,
  type ApiRoute,
  type Call,
  type Reply,
} from './call.js';

export const repoRoutes: readonly ApiRoute[] = [
  repoRoute('repo', 'GET ', {}, (call, repo) => ({
    json: repoJson(repo, canPush(call.caller, repo)),
  })),
  repoRoute('contents', 'GET /contents/:path{.*}', 'contents:read', contents),
  repoRoute('commits', 'GET /commits', 'contents:read', listCommits),
  repoRoute('commit', 'GET /commits/:ref{.+}', 'contents:read', (call, repo) => {
    const sha = resolveRef(call, repo, call.param('ref'));
    if (sha === undefined) throw invalid([], `No commit found for SHA: ${call.param('ref')}`);
    if (call.accept.includes('github.sha'))
      return { text: { type: 'application/vnd.github.sha; charset=utf-8', body: sha } };
    const [parent] = call.world.git.commit(sha)?.parents ?? [];
    const changes = changesBetween(filesAt(call.world, parent), filesAt(call.world, sha));
    const files = changes.map((change) => fileJson(call.world, change));
    return { json: { ...commitJson(call.world, repo, sha), files } };
  }),
  repoRoute('compare', 'GET /compare/:range{.+}', 'contents:read', compare),
  repoRoute(
    'git-ref',
    'GET /git/ref/:ref{.+}',
    { needs: 'contents:read', auth: 'token' },
    (call, repo) => ({ json: refJson(repo, call.param('ref')) }),
  ),
  repoRoute('git-tree', 'GET /git/trees/:sha{.+}', 'contents:read', tree),
  repoRoute(
    'git-commit',
    'GET /git/commits/:sha',
    { needs: 'contents:read', auth: 'token' },
    (call) => {
      const json = gitCommitJson(call.world, call.param('sha'));
      if (!json) throw notFound();
      return { json };
    },
  ),
  repoRoute('git-blob', 'GET /git/blobs/:sha', 'contents:read', (call) => {
    const sha = call.param('sha');
    const bytes = call.world.git.blob(sha);
    if (!bytes) throw notFound();
    const content = bytes.toString('base64');
    return { json: { sha, size: bytes.length, encoding: 'base64', content } };
  }),
];

export function refJson(repo: Repo, name: string): JsonObject {
  const sha = repo.refs.get(name);
  if (sha === undefined) throw notFound();
  return { ref: `refs/${name}`, node_id: '', object: { type: 'commit', sha } };
}

const MAX_INLINE_BYTES = 1024 * 1024;
const MAX_FOLDER = 1000;

function contents(call: Call, repo: Repo): Reply {
  const ref = call.query.get('ref') ?? repo.defaultBranch;
  const sha = resolveRef(call, repo, ref);
  if (sha === undefined) throw problem(404, `No commit found for the ref ${ref}`);
  const path = call.param('path').replaceAll(/^\/|\/$/g, '');
  const files = filesAt(call.world, sha);
  const file = files.get(path);
  if (file) return fileReply(call, path, file);
  const inside = path === '' ? '' : `${path}/`;
  const below = [...files].filter(([name]) => name.startsWith(inside));
  if (below.length === 0) throw notFound();
  const entries = new Map(
    below.map(([name, entry]): [string, FileEntry | undefined] => {
      const [first = '', ...rest] = name.slice(inside.length).split('/');
      return [first, rest.length === 0 ? entry : undefined];
    }),
  );
  return {
    json: [...entries].slice(0, MAX_FOLDER).map(([name, entry]) => ({
      type: entry ? 'file' : 'dir',
      name,
      path: inside + name,
      size: entry ? (call.world.git.blob(entry.sha)?.length ?? 0) : 0,
      sha: entry?.sha ?? '',
    })),
  };
}

function fileReply(call: Call, path: string, { sha }: FileEntry): Reply {
  const bytes = call.world.git.blob(sha) ?? Buffer.alloc(0);
  if (call.accept.includes('raw'))
    return { text: { type: 'application/vnd.github.raw; charset=utf-8', body: bytes } };
  const isInline = bytes.length <= MAX_INLINE_BYTES;
  return {
    json: {
      type: 'file',
      encoding: isInline ? 'base64' : 'none',
      size: bytes.length,
      name: path.split('/').at(-1) ?? '',
      path,
      content: isInline ? bytes.toString('base64').replaceAll(/.{60}/g, '$&\n') : '',
      sha,
    },
  };
}

function listCommits(call: Call, repo: Repo): Reply {
  const { world, query } = call;
  const ref = query.get('sha') ?? repo.defaultBranch;
  const sha = resolveRef(call, repo, ref);
  if (sha === undefined) throw notFound();
  const [path, author] = [query.get('path'), query.get('author')];
  const since = Date.parse(query.get('since') ?? '') || 0;
  const shas = world.git.history(sha).filter((one) => {
    const commit = world.git.commit(one);
    if (!commit || commit.author.date < since) return false;
    if (author !== null && commit.author.name !== author) return false;
    if (path === null) return true;
    const changed = changesBetween(filesAt(world, commit.parents[0]), filesAt(world, one));
    return changed.some((change) => change.path === path || change.path.startsWith(`${path}/`));
  });
  return paged(call, shas, (one) => commitJson(world, repo, one));
}

function compare(call: Call, repo: Repo): Reply {
  const { world } = call;
  const [from = '', to = ''] = decodeURIComponent(call.param('range')).split('...');
  const [base, head] = [resolveRef(call, repo, from), resolveRef(call, repo, to)];
  if (base === undefined || head === undefined) throw notFound();
  const common = world.git.mergeBase(base, head);
  const [inBase, inHead] = [world.git.history(base), world.git.history(head)];
  const ahead = inHead.filter((sha) => !inBase.includes(sha)).toReversed();
  const behind = inBase.filter((sha) => !inHead.includes(sha)).length;
  const changes = changesBetween(filesAt(world, common), filesAt(world, head));
  if (call.accept.includes('diff'))
    return { text: { type: 'text/plain; charset=utf-8', body: diffOf(world.git, changes) } };
  const status =
    ahead.length > 0 ? (behind > 0 ? 'diverged' : 'ahead') : behind > 0 ? 'behind' : 'identical';
  const counts = {
    status,
    ahead_by: ahead.length,
    behind_by: behind,
    total_commits: ahead.length,
    base_commit: { sha: base },
    merge_base_commit: { sha: common ?? '' },
    permalink_url: `https://github.com/${repo.fullName}/compare/${short(repo, base)}...${short(repo, head)}`,
  };
  // Only the first page has the files, at most 300.
  const isFirst = (call.query.get('page') ?? '1') === '1';
  return paged(
    call,
    ahead,
    (sha) => commitJson(world, repo, sha),
    (commits) => ({
      ...counts,
      commits,
      ...(isFirst && { files: changes.slice(0, 300).map((change) => fileJson(world, change)) }),
    }),
  );
}

const short = (repo: Repo, sha: string): string => `${repo.owner.login}:${sha.slice(0, 7)}`;

const MAX_TREE = 100_000;

function tree(call: Call, repo: Repo): Reply {
  const { git } = call.world;
  const given = call.param('sha');
  const commit = resolveRef(call, repo, given);
  const sha = commit === undefined ? given : (git.commit(commit)?.tree ?? '');
  if (!git.tree(sha)) throw notFound();
  const isRecursive = call.query.get('recursive') !== null;
  const list = (at: string, prefix: string): JsonObject[] =>
    (git.tree(at) ?? []).flatMap((entry) => {
      const path = prefix + entry.name;
      const size = git.blob(entry.sha)?.length;
      const type = typeOf(entry.mode);
      const own = {
        path,
        mode: entry.mode,
        type,
        sha: entry.sha,
        ...(size !== undefined && { size }),
      };
      return isRecursive && type === 'tree' ? [own, ...list(entry.sha, `${path}/`)] : [own];
    });
  const entries = list(sha, '');
  return { json: { sha, tree: entries.slice(0, MAX_TREE), truncated: entries.length > MAX_TREE } };
}

let moves = 0;

/** Another client commits to the branch. */
export function moveBranch(
  { world }: Pick<Call, 'world'>,
  repo: Repo,
  ref: string,
  path?: string,
): string {
  moves += 1;
  const at = path ?? `elsewhere-${moves}.txt`;
  const sha = world.git.writeBlob(Buffer.from(`moved ${moves}\n`));
  const files = new Map(filesAt(world, repo.refs.get(ref))).set(at, { mode: '100644', sha });
  const by = { id: 0, login: 'another-client', type: 'User' } as const;
  return world.commitFiles(repo, ref.replace(/^heads\//, ''), { files, message: `move ${at}`, by });
}

export const noCommits = (base: string, head: string) =>
  custom('PullRequest', `No commits between ${base} and ${head}`);
