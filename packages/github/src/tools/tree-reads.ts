import { page, raise, toolError } from '@toolkeel/contract';
import { compact } from '@toolkeel/pack-kit';
import { documented } from '../client/document.js';
import type { GitHubResponse } from '../client/request.js';
import { githubTool, rateLimitOf, repoOf, withWarnings, type Kit } from './kit.js';
import { clip, fileOf, type Schemas } from './present.js';
import * as specs from './specs/index.js';

interface TreeEntry {
  readonly path: string;
  readonly type: string;
  readonly mode: string;
  readonly sha: string;
  readonly size?: number;
}

interface Tree {
  readonly sha: string;
  readonly tree: readonly TreeEntry[];
  readonly truncated?: boolean;
}

const treeOf = ({ sha, tree, truncated = false }: Tree) => ({
  sha,
  truncated,
  entries: tree.map(({ path, type, mode, sha: own, size }) => ({
    path,
    type,
    mode,
    sha: own,
    ...compact({ size }),
  })),
});

const TREE = 'GET /repos/{owner}/{repo}/git/trees/{sha}';

export const listTreeTool = (kit: Kit) =>
  githubTool(specs.listTree, kit, async (args, call) => {
    const { cursor } = call;
    const { client } = kit;
    const at = repoOf(args.repo);
    const parts = args.path.split('/').filter((part) => part !== '');
    const read = async (sha: string, recursive?: number) =>
      documented(await client.read<Tree>(TREE, { ...at, sha, recursive }, call), treeOf);
    const keyOf = (sha: string): string => `tree ${sha} ${args.recursive}`;
    const load = async () => {
      const held =
        cursor && (kit.pages.get(keyOf(cursor.u)) as ReturnType<typeof treeOf> | undefined);
      if (held) return held;
      let sha = cursor?.u ?? args.ref ?? 'HEAD';
      for (const [index, part] of cursor ? [] : parts.entries()) {
        const { entries } = await read(sha);
        const folder = entries.find((entry) => entry.path === part && entry.type === 'tree');
        if (!folder) return raise(noFolder(parts.slice(0, index + 1).join('/')));
        sha = folder.sha;
      }
      return read(sha, args.recursive ? 1 : undefined);
    };
    const data = await load();
    const prefix = parts.map((part) => `${part}/`).join('');
    // The tree itself, not the branch: its pages are those of one state.
    const u = data.sha;
    const start = cursor?.k ?? 0;
    const all = data.entries;
    const entries = all.slice(start, start + args.limit).map((entry) =>
      compact({
        path: prefix + entry.path,
        type: entry.type === 'tree' ? 'folder' : entry.type === 'commit' ? 'submodule' : 'file',
        size: entry.size,
        executable: entry.mode === '100755' ? true : undefined,
      }),
    );
    const warnings = data.truncated ? ['GitHub cut the tree: list its folders one by one.'] : [];
    const end = start + entries.length;
    if (all.length > 1) kit.pages.set(keyOf(u), data);
    return page(
      { total: all.length, ...withWarnings(warnings), entries },
      {
        next: end < all.length ? { u, k: end } : undefined,
        after: (kept) => ({ u, k: start + kept }),
        rateLimit: rateLimitOf(kit),
      },
    );
  });

const noFolder = (path: string) =>
  toolError('not_found', `There is no folder ${path}.`, {
    details: { resource: 'folder', id: path },
  });

const MAX_SHOWN_COMMITS = 50;

const MAX_TITLE = 300;

type Comparison = Schemas['commit-comparison'];

/** The compared commits. A comparison of many commits names its head only in its link. */
function commitsOf({ base_commit, commits, total_commits, permalink_url }: Comparison) {
  const last = commits.length === total_commits ? commits.at(-1)?.sha : undefined;
  const head = last ?? /\b[0-9a-f]{7,64}$/.exec(permalink_url)?.[0];
  return [base_commit.sha, head];
}

export const compareTool = (kit: Kit) =>
  githubTool(specs.compare, kit, async (args, call) => {
    const { cursor } = call;
    const { client } = kit;
    const route = 'GET /repos/{owner}/{repo}/compare/{basehead}';
    const basehead = cursor?.u ?? `${args.base}...${args.head}`;
    const at = { ...repoOf(args.repo), basehead, per_page: 100 };
    const keyOf = (pinned: string): string => `compare ${args.repo} ${pinned}`;
    const held =
      cursor && (kit.pages.get(keyOf(cursor.u)) as GitHubResponse<Comparison> | undefined);
    const response = held ?? (await client.read<Comparison>(route, at, call));
    const { data } = response;
    const start = cursor?.k ?? 0;
    const files = documented(response, () =>
      (data.files ?? []).slice(start, start + args.limit).map(fileOf),
    );
    const all = data.files?.length ?? 0;
    // Branches move: the pages are those of the commits that were compared first.
    const u = cursor?.u ?? (all > 1 ? documented(response, commitsOf).join('...') : '');
    if (all > 1) kit.pages.set(keyOf(u), response);
    const end = start + files.length;
    const warnings = all >= 300 ? ['GitHub lists at most 300 files of a comparison.'] : [];
    const summary = documented(response, () => ({
      status: data.status,
      ahead_by: data.ahead_by,
      behind_by: data.behind_by,
      merge_base: data.merge_base_commit.sha,
      commits: data.commits.slice(0, MAX_SHOWN_COMMITS).map(({ sha, commit }) => ({
        sha,
        title: clip(commit.message.split('\n')[0] ?? '', MAX_TITLE),
      })),
    }));
    return page(
      { ...(cursor === undefined && summary), ...withWarnings(warnings), files },
      {
        next: end < all ? { u, k: end } : undefined,
        after: (kept) => ({ u, k: start + kept }),
        rateLimit: rateLimitOf(kit),
      },
    );
  });
