import { createHash } from 'node:crypto';
import { beforeSend, raise, toolError, type UnknownOperation } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { CallContext } from '@toolkeel/pack-kit';
import { documented, itemsIn } from '../client/document.js';
import { rejectionOf } from '../client/faults.js';
import { documentedPacing } from '../client/limits.js';
import { conflict } from '../faults.js';
import { headOf } from './create.js';
import {
  act,
  githubTool,
  invalidInput,
  reconcileBy,
  repoOf,
  isSince,
  sameText,
  sinceOf,
  type GitHubCall,
  type Kit,
} from './kit.js';
import type { Schemas } from './present.js';
import * as specs from './specs/index.js';

interface FileChange {
  readonly path: string;
  /** Absent: the file is deleted. */
  readonly content?: string | undefined;
  readonly base64?: boolean | undefined;
  readonly executable?: boolean | undefined;
}

interface CommitArguments {
  readonly repo: string;
  readonly branch: string;
  readonly message: string;
  readonly files: readonly FileChange[];
  readonly head_sha?: string | undefined;
}

interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
}

const GIT = '/repos/{owner}/{repo}/git';

/** How often a branch may move under a commit before it is given up. */
const MAX_ROUNDS = 4;

export const commitTool = (kit: Kit) =>
  githubTool(specs.commitFiles, kit, (args, call) => commitFiles(kit, args, call), {
    check: ({ files }) => invalidFile(files) ?? tooManyBlobs(kit, files),
    reconcile: reconcileBy(kit, true, (operation, call) => findCommit(kit, operation, call)),
  });

function invalidFile(files: readonly FileChange[]) {
  const seen = new Set<string>();
  const written = new Set(
    files.flatMap(({ path, content }) => (content === undefined ? [] : path)),
  );
  for (const { path, content = '', base64 } of files) {
    const isUnusable = path.split('/').some((part) => part === '' || part === '.' || part === '..');
    if (isUnusable) return invalidInput('files.path', `"${path}" is not a path in a repository`);
    if (seen.has(path)) return invalidInput('files.path', `"${path}" occurs twice`);
    seen.add(path);
    const folder = foldersOf(path).find((one) => written.has(one));
    if (folder !== undefined)
      return invalidInput('files.path', `"${folder}" is a file and the folder of "${path}"`);
    if (
      base64 &&
      Buffer.from(content, 'base64').toString('base64') !== content.replaceAll(/\s/g, '')
    )
      return invalidInput('files.content', `the content of "${path}" is not base64`);
  }
  return undefined;
}

/** GitHub's pace allows a fifth of the points, because each upload costs five. A commit cannot wait a minute. */
function tooManyBlobs({ config }: Kit, files: readonly FileChange[]) {
  const { pointsPerMinute = documentedPacing.pointsPerMinute } = config.pacing;
  const max = Math.floor(pointsPerMinute / 5);
  if (blobsOf(files).size <= max) return undefined;
  const reason = `at most ${max} binary files a commit (packs.github.pacing.pointsPerMinute); split it`;
  return invalidInput('files', reason);
}

/** `a/b/c` is in `a` and `a/b`. */
const foldersOf = (path: string): string[] =>
  path.split('/').flatMap((_, index, parts) => (index > 0 ? parts.slice(0, index).join('/') : []));

const bytesOf = ({ content = '', base64 }: FileChange): Buffer =>
  Buffer.from(content, base64 ? 'base64' : 'utf8');

/** The name that git gives a blob. */
const blobSha = (bytes: Buffer): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

async function commitFiles(kit: Kit, args: CommitArguments, call: GitHubCall) {
  const { repo, branch, files, head_sha: edited } = args;
  const start = await beforeSend(async () => {
    const head = await headOf(kit, repo, branch, call);
    if (head === undefined) return raise(missing('branch', branch));
    if (edited !== undefined) await refuseOverlap(kit, args, edited, head, call);
    return head;
  });
  return act(call, async (inner) => {
    const blobs = await beforeSend(() => writeBlobs(kit, repo, files, inner));
    let head = start;
    for (let round = 1; ; round += 1) {
      // Objects without a ref are not visible: a failure before the ref is updated changed nothing.
      const sha = await beforeSend(() => writeCommit(kit, args, head, blobs, inner));
      const isRebased = round > 1 ? { rebased: true } : {};
      if (sha === undefined) return { branch, sha: head, unchanged: true };
      if (call.operationId !== undefined) kit.commits.set(call.operationId, sha);
      if (await moveRef(kit, args, sha, inner))
        return { branch, sha, files: files.length, ...isRebased };
      if (round === MAX_ROUNDS)
        return conflict(`The branch ${branch} keeps moving. Try again later.`, { sha: head });
      head = await beforeSend(async () => {
        const moved = await headOf(kit, repo, branch, inner);
        if (moved === undefined) return raise(missing('branch', branch));
        await refuseOverlap(kit, args, head, moved, inner);
        return moved;
      });
    }
  });
}

const missing = (resource: string, id: string) =>
  toolError('not_found', `There is no ${resource} ${id}.`, {
    outcome: 'not_executed',
    details: { resource, id },
  });

/** Refuses if the commits between two heads changed one of the paths. */
async function refuseOverlap(
  { client }: Kit,
  { repo, branch, files }: CommitArguments,
  from: string,
  to: string,
  call: CallContext,
): Promise<void> {
  if (from === to) return;
  const route = 'GET /repos/{owner}/{repo}/compare/{basehead}';
  const at = { ...repoOf(repo), basehead: `${from}...${to}`, per_page: 1 };
  const { data } = await client.read<Schemas['commit-comparison']>(route, at, call);
  const changed = (data.files ?? []).flatMap((file) => [file.filename, file.previous_filename]);
  const ours = new Set(files.map(({ path }) => path));
  const overlap = changed.filter((path) => path !== undefined && ours.has(path));
  // GitHub lists at most 300 files, and what it does not list may be one of ours.
  const isCertain = (data.files?.length ?? 0) < 300 && data.behind_by === 0;
  if (overlap.length === 0 && isCertain) return;
  const why =
    overlap.length > 0 ? `changed ${overlap.join(', ')}` : 'was rewritten or changed many files';
  raise(conflict(`Another commit on ${branch} ${why}. Read the files again.`, { sha: to }));
}

/** Text goes into the tree itself; empty and binary files need a blob. Equal ones share it. */
function blobsOf(files: readonly FileChange[]): ReadonlyMap<string, readonly FileChange[]> {
  const blobs = new Map<string, FileChange[]>();
  for (const file of files) {
    if (file.content === undefined || (file.content !== '' && !file.base64)) continue;
    const sha = blobSha(bytesOf(file));
    blobs.set(sha, [...(blobs.get(sha) ?? []), file]);
  }
  return blobs;
}

/** An object without a ref is not visible, so that it needs no pause after the last mutation. */
const UNSEEN = { isUnseen: true };
const MAX_UPLOADS = 8;

async function writeBlobs(
  { client }: Kit,
  repo: string,
  files: readonly FileChange[],
  call: CallContext,
): Promise<ReadonlyMap<string, string>> {
  const blobs = new Map<string, string>();
  const waiting = [...blobsOf(files).values()];
  const upload = async (): Promise<void> => {
    for (let same = waiting.pop(); same; same = waiting.pop()) {
      const [first] = same;
      const content = first ? bytesOf(first).toString('base64') : '';
      const at = { ...repoOf(repo), content, encoding: 'base64' };
      const route = `POST ${GIT}/blobs`;
      const blob = await client.idempotent<{ sha: string }>(route, at, call, UNSEEN);
      for (const { path } of same) blobs.set(path, documented(blob, shaOf));
    }
  };
  const uploads = Array.from({ length: MAX_UPLOADS }, () =>
    upload().catch((cause: unknown) => {
      waiting.length = 0;
      throw cause;
    }),
  );
  const failed = (await Promise.allSettled(uploads)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return blobs;
}

/** Writes the tree and the commit; undefined if nothing would change. */
async function writeCommit(
  kit: Kit,
  { repo, files, message }: CommitArguments,
  head: string,
  blobs: ReadonlyMap<string, string>,
  call: CallContext,
): Promise<string | undefined> {
  const { client } = kit;
  const at = repoOf(repo);
  const parent = await client.read<Schemas['git-commit']>(
    `GET ${GIT}/commits/{sha}`,
    { ...at, sha: head },
    call,
  );
  const base = documented(parent, (commit) => commit.tree.sha);
  const known = await entriesAt(kit, repo, base, files, call);
  const entries = files.map((file) => {
    const { path, content } = file;
    const existing = known.get(path);
    if (content === undefined) {
      // A folder is not deleted by accident.
      if (!existing || existing.type === 'tree') return raise(missing('file', path));
      return { path, mode: existing.mode, type: 'blob', sha: null };
    }
    refuseReplaced(path, existing, known, files);
    const mode = modeOf(file, existing);
    const sha = blobs.get(path);
    return { path, mode, type: 'blob', ...(sha === undefined ? { content } : { sha }) };
  });
  const tree = await client.idempotent<{ sha: string }>(
    `POST ${GIT}/trees`,
    { ...at, base_tree: base, tree: entries },
    call,
    UNSEEN,
  );
  const written = documented(tree, shaOf);
  if (written === base) return undefined;
  const commit = await client.idempotent<{ sha: string }>(
    `POST ${GIT}/commits`,
    { ...at, message, tree: written, parents: [head] },
    call,
    UNSEEN,
  );
  return documented(commit, shaOf);
}

/** A file in the place of a folder, or a folder in that of a file, would remove what the call does not name. */
function refuseReplaced(
  path: string,
  existing: Entry | undefined,
  known: ReadonlyMap<string, Entry>,
  files: readonly FileChange[],
): void {
  const isKept = (one: string): boolean => !files.some((file) => file.path === one);
  const folder = foldersOf(path).find((one) => {
    const entry = known.get(one);
    return entry !== undefined && entry.type !== 'tree' && isKept(one);
  });
  if (folder !== undefined) raise(conflict(`${folder} is not a folder. Delete it first.`));
  if (existing?.type === 'tree') raise(conflict(`${path} is a folder. Delete its files first.`));
  if (existing?.type === 'commit') raise(conflict(`${path} is a submodule.`));
}

const shaOf = ({ sha }: { readonly sha: string }): string => sha;

/** The executable bit is kept unless the caller states it; a link becomes a file. */
function modeOf({ executable }: FileChange, existing: Entry | undefined): string {
  if (executable !== undefined) return executable ? '100755' : '100644';
  return existing?.mode === '100755' ? '100755' : '100644';
}

/** The present entries of the paths. A tree that GitHub cuts is read folder by folder. */
async function entriesAt(
  { client }: Kit,
  repo: string,
  tree: string,
  files: readonly FileChange[],
  call: CallContext,
): Promise<ReadonlyMap<string, Entry>> {
  interface Tree {
    readonly tree: readonly Entry[];
    readonly truncated?: boolean;
  }
  const read = async (sha: string, recursive?: number) => {
    const at = { ...repoOf(repo), sha, recursive };
    const response = await client.read<Tree>(`GET ${GIT}/trees/{sha}`, at, call);
    return documented(response, ({ tree: entries, truncated = false }) => ({
      tree: entries.map(({ path, mode, type, sha: own }) => ({ path, mode, type, sha: own })),
      truncated,
    }));
  };
  const whole = await read(tree, 1);
  const all = new Map(whole.tree.map((entry) => [entry.path, entry]));
  if (!whole.truncated) return all;
  for (const { path } of files) {
    let at = tree;
    const parts = path.split('/');
    for (const [index, part] of parts.entries()) {
      const entry = (await read(at)).tree.find((one) => one.path === part);
      if (!entry) break;
      const own = parts.slice(0, index + 1).join('/');
      all.set(own, { ...entry, path: own });
      if (entry.type !== 'tree') break;
      at = entry.sha;
    }
  }
  return all;
}

/** Moves the branch without force. False if it moved meanwhile. */
async function moveRef(
  kit: Kit,
  { repo, branch }: CommitArguments,
  sha: string,
  call: CallContext,
): Promise<boolean> {
  const at = { ...repoOf(repo), ref: `heads/${branch}`, sha, force: false };
  try {
    await kit.client.once(`PATCH ${GIT}/refs/{ref}`, at, call, { createsContent: true });
    return true;
  } catch (cause) {
    const error = rejectionOf(cause);
    if (error?.status === 422 && /fast.forward/i.test(error.reason ?? '')) return false;
    const isLost = cause instanceof FaultError && cause.fault.sent !== 'no' && !error;
    // The name of the commit is known: it is on the branch, or it is not.
    if (isLost && (await isOnBranch(kit, repo, branch, sha, call).catch(() => false))) return true;
    throw cause;
  }
}

async function isOnBranch(kit: Kit, repo: string, branch: string, sha: string, call: CallContext) {
  const route = 'GET /repos/{owner}/{repo}/compare/{basehead}';
  const at = { ...repoOf(repo), basehead: `${sha}...${branch}`, per_page: 1 };
  const { data } = await kit.client.read<Schemas['commit-comparison']>(route, at, call);
  return data.status === 'ahead' || data.status === 'identical';
}

/**
 * Finds the commit of the operation on the branch: by its name, or, in another process than the one that made
 * it, by its time, its message and the content of every path, which the branch must still have.
 */
async function findCommit(
  kit: Kit,
  { id, args, sentAt }: UnknownOperation<CommitArguments>,
  call: CallContext,
) {
  const { repo, branch, message, files } = args;
  const answer = (sha: string) => ({ branch, sha, files: files.length });
  const known = kit.commits.get(id);
  if (known !== undefined)
    return (await isOnBranch(kit, repo, branch, known, call)) ? answer(known) : undefined;
  const route = 'GET /repos/{owner}/{repo}/commits';
  const at = { ...repoOf(repo), sha: branch, since: sinceOf(sentAt), per_page: 100 };
  const page = await kit.client.read<readonly Schemas['commit'][]>(route, at, call);
  const [head] = itemsIn(page) as typeof page.data;
  const ours = page.data.find(
    ({ commit }) =>
      sameText(commit.message, message) && isSince(kit, page, sentAt, commit.committer?.date),
  );
  if (!head || !ours) return page.next === undefined ? undefined : ('unknown' as const);
  for (const { commit } of [head, ours]) {
    const entries = await entriesAt(kit, repo, commit.tree.sha, files, call);
    const hasContent = files.every(
      (file) =>
        entries.get(file.path)?.sha ===
        (file.content === undefined ? undefined : blobSha(bytesOf(file))),
    );
    if (!hasContent) return 'unknown' as const;
  }
  return answer(ours.sha);
}
