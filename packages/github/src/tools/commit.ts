import { createHash } from 'node:crypto';
import { beforeSend, raise, toolError, type UnknownOperation } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { CallContext } from '@toolkeel/pack-kit';
import { documented } from '../client/document.js';
import { conflict } from '../faults.js';
import { headOf } from './create.js';
import {
  act,
  githubTool,
  invalidInput,
  reconcileBy,
  rejectionOf,
  repoOf,
  sameText,
  sinceOf,
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
    check: ({ files }) => invalidFile(files),
    reconcile: reconcileBy(kit, true, (operation, call) => findCommit(kit, operation, call)),
  });

function invalidFile(files: readonly FileChange[]) {
  const seen = new Set<string>();
  for (const { path, content = '', base64 } of files) {
    const isUnusable = path.split('/').some((part) => part === '' || part === '.' || part === '..');
    if (isUnusable) return invalidInput('files.path', `"${path}" is not a path in a repository`);
    if (seen.has(path)) return invalidInput('files.path', `"${path}" occurs twice`);
    seen.add(path);
    if (
      base64 &&
      Buffer.from(content, 'base64').toString('base64') !== content.replaceAll(/\s/g, '')
    )
      return invalidInput('files.content', `the content of "${path}" is not base64`);
  }
  return undefined;
}

const bytesOf = ({ content = '', base64 }: FileChange): Buffer =>
  Buffer.from(content, base64 ? 'base64' : 'utf8');

/** The name that git gives a blob. */
const blobSha = (bytes: Buffer): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

async function commitFiles(kit: Kit, args: CommitArguments, call: CallContext) {
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

/** Text goes into the tree itself; empty and binary files need a blob. */
async function writeBlobs(
  { client }: Kit,
  repo: string,
  files: readonly FileChange[],
  call: CallContext,
): Promise<ReadonlyMap<string, string>> {
  const blobs = new Map<string, string>();
  for (const file of files) {
    if (file.content === undefined || (file.content !== '' && !file.base64)) continue;
    const content = bytesOf(file).toString('base64');
    const at = { ...repoOf(repo), content, encoding: 'base64' };
    const blob = await client.idempotent<{ sha: string }>(`POST ${GIT}/blobs`, at, call);
    blobs.set(file.path, documented(blob, shaOf));
  }
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
    const mode = modeOf(file, existing);
    const sha = blobs.get(path);
    return { path, mode, type: 'blob', ...(sha === undefined ? { content } : { sha }) };
  });
  const tree = await client.idempotent<{ sha: string }>(
    `POST ${GIT}/trees`,
    { ...at, base_tree: base, tree: entries },
    call,
  );
  const written = documented(tree, shaOf);
  if (written === base) return undefined;
  const commit = await client.idempotent<{ sha: string }>(
    `POST ${GIT}/commits`,
    { ...at, message, tree: written, parents: [head] },
    call,
  );
  return documented(commit, shaOf);
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
      if (index === parts.length - 1) all.set(path, { ...entry, path });
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

const MAX_CANDIDATES = 300;

/** Finds the commit on the branch by its message and the content of every path. */
async function findCommit(
  kit: Kit,
  operation: UnknownOperation<CommitArguments>,
  call: CallContext,
) {
  const { repo, branch, message, files } = operation.args;
  const { items, isComplete } = await kit.client.collect<Schemas['commit']>(
    'GET /repos/{owner}/{repo}/commits',
    { ...repoOf(repo), sha: branch, since: sinceOf(operation.sentAt) },
    call,
    MAX_CANDIDATES,
  );
  for (const { sha, commit } of items) {
    if (!sameText(commit.message, message)) continue;
    const entries = await entriesAt(kit, repo, commit.tree.sha, files, call);
    const isOurs = files.every((file) => {
      const expected = file.content === undefined ? undefined : blobSha(bytesOf(file));
      return entries.get(file.path)?.sha === expected;
    });
    if (isOurs) return { branch, sha, files: files.length };
  }
  return isComplete ? undefined : ('unknown' as const);
}
