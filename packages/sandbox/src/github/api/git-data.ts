import * as z from 'zod';
import type { Mode } from '../git.js';
import { gitCommitJson } from '../present.js';
import { invalid, missingField, notFound } from '../problems.js';
import type { Repo } from '../world.js';
import { commitAct, repoRoute, requirePush, type ApiRoute, type Call, type Reply } from './call.js';
import { moveBranch, refJson } from './repos.js';

/** Writes of git objects, which are no effects, and of refs, which are. */
export const gitDataRoutes: readonly ApiRoute[] = [
  repoRoute('create-blob', 'POST /git/blobs', 'contents:write', async (call, repo) => {
    requirePush(call, repo);
    const { content, encoding } = await call.body(
      z.object({ content: z.string(), encoding: z.string().default('utf-8') }),
    );
    const bytes = Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
    return { status: 201, json: { sha: call.world.git.writeBlob(bytes), url: '' } };
  }),
  repoRoute('create-tree', 'POST /git/trees', 'contents:write', createTree),
  repoRoute('create-commit', 'POST /git/commits', 'contents:write', createCommit),
  repoRoute(
    'create-ref',
    'POST /git/refs',
    { needs: 'contents:write', createsContent: true },
    async (call, repo) => {
      requirePush(call, repo);
      const { ref, sha } = await call.body(z.object({ ref: z.string(), sha: z.string() }));
      const name = ref.replace(/^refs\//, '');
      if (!/^(heads|tags)\/.+/.test(name) || !ref.startsWith('refs/'))
        throw invalid([], 'Reference name is not valid');
      if (repo.refs.has(name)) throw invalid([], 'Reference already exists');
      if (!call.world.git.commit(sha)) throw invalid([], 'Object does not exist');
      repo.refs.set(name, sha);
      commitAct(call, repo, { kind: 'ref.created', id: name, content: { ref, sha } });
      return { status: 201, json: refJson(repo, name) };
    },
  ),
  repoRoute('update-ref', 'PATCH /git/refs/:ref{.+}', 'contents:write', updateRef),
];

const treeSchema = z.object({
  base_tree: z.string().optional(),
  tree: z.array(
    z.object({
      path: z.string(),
      mode: z.enum(['100644', '100755', '120000', '160000', '040000']),
      type: z.string().optional(),
      sha: z.string().nullable().optional(),
      content: z.string().optional(),
    }),
  ),
});

async function createTree(call: Call, repo: Repo): Promise<Reply> {
  requirePush(call, repo);
  const { git } = call.world;
  const { base_tree: base, tree: entries } = await call.body(treeSchema);
  if (base !== undefined && !git.tree(base)) throw notFound();
  const files = new Map<string, { mode: Mode; sha: string }>(
    base === undefined ? [] : git.files(base),
  );
  for (const { path, mode, sha, content } of entries) {
    if (sha === null) {
      if (!files.delete(path)) throw invalid([], `GitRPC::BadObjectState`);
    } else {
      const written = content === undefined ? sha : git.writeBlob(Buffer.from(content));
      if (written === undefined) throw missingField('Tree', 'sha');
      if (!git.blob(written)) throw invalid([], `tree.sha ${written} is not a valid blob`);
      files.set(path, { mode, sha: written });
    }
  }
  if (files.size === 0) throw invalid([], 'Invalid tree info');
  return { status: 201, json: { sha: git.writeFiles(files) } };
}

async function createCommit(call: Call, repo: Repo): Promise<Reply> {
  requirePush(call, repo);
  const { git, clock } = call.world;
  const given = await call.body(
    z.object({
      message: z.string(),
      tree: z.string(),
      parents: z.array(z.string()).default([]),
      author: z
        .object({ name: z.string(), email: z.string(), date: z.string().optional() })
        .optional(),
    }),
  );
  if (!git.tree(given.tree)) throw invalid([], 'Tree SHA does not exist');
  if (given.parents.some((sha) => !git.commit(sha)))
    throw invalid([], 'Parent SHA does not exist or is not a commit object');
  const { login } = call.caller.account;
  const author = {
    name: given.author?.name ?? login,
    email: given.author?.email ?? `${login}@users.noreply.github.com`,
    date: given.author?.date === undefined ? clock.now() : Date.parse(given.author.date),
  };
  const { tree: root, parents, message } = given;
  const sha = git.writeCommit({ tree: root, parents, message, author });
  return { status: 201, json: gitCommitJson(call.world, sha) ?? {} };
}

async function updateRef(call: Call, repo: Repo): Promise<Reply> {
  requirePush(call, repo);
  const name = call.param('ref');
  const { sha, force } = await call.body(
    z.object({ sha: z.string(), force: z.boolean().default(false) }),
  );
  if (call.exchange.inject('github-branch-moves')) moveBranch(call, repo, name);
  const current = repo.refs.get(name);
  if (current === undefined) throw invalid([], 'Reference does not exist');
  if (!call.world.git.commit(sha)) throw invalid([], 'Object does not exist');
  if (!force && !call.world.git.history(sha).includes(current))
    throw invalid([], 'Update is not a fast forward');
  repo.refs.set(name, sha);
  commitAct(call, repo, { kind: 'ref.updated', id: name, content: { name, sha } });
  return { json: refJson(repo, name) };
}
