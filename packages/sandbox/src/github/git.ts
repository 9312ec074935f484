import { createHash } from 'node:crypto';

export type Mode = '100644' | '100755' | '120000' | '160000' | '040000';

interface TreeEntry {
  readonly mode: Mode;
  readonly name: string;
  readonly sha: string;
}

export interface FileEntry {
  readonly mode: Mode;
  readonly sha: string;
}

interface Signature {
  readonly name: string;
  readonly email: string;
  /** Milliseconds since 1970. */
  readonly date: number;
}

interface GitCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Signature;
}

/** All files of a tree by path. */
export type Files = ReadonlyMap<string, FileEntry>;

export interface FileChange {
  readonly path: string;
  readonly status: 'added' | 'removed' | 'modified';
  readonly before?: FileEntry;
  readonly after?: FileEntry;
}

/** Git objects under their real SHA-1 names. */
export interface Git {
  readonly writeBlob: (bytes: Buffer) => string;
  /** Writes the nested trees of these files. */
  readonly writeFiles: (files: Files) => string;
  readonly writeCommit: (commit: GitCommit) => string;
  readonly blob: (sha: string) => Buffer | undefined;
  readonly tree: (sha: string) => readonly TreeEntry[] | undefined;
  readonly commit: (sha: string) => GitCommit | undefined;
  readonly files: (treeSha: string) => Files;
  /** The commit and its ancestors, newest first. */
  readonly history: (sha: string) => readonly string[];
  readonly mergeBase: (one: string, other: string) => string | undefined;
}

export const typeOf = (mode: Mode): 'blob' | 'tree' | 'commit' =>
  mode === '040000' ? 'tree' : mode === '160000' ? 'commit' : 'blob';

export function createGit(): Git {
  const blobs = new Map<string, Buffer>();
  const trees = new Map<string, readonly TreeEntry[]>();
  const commits = new Map<string, GitCommit>();

  const writeBlob = (bytes: Buffer): string => stored(blobs, 'blob', bytes, bytes);
  const writeTree = (entries: readonly TreeEntry[]): string => {
    const sorted = entries.toSorted((one, other) => (sortName(one) < sortName(other) ? -1 : 1));
    const bytes = sorted.flatMap(({ mode, name, sha }) => [
      Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`),
      Buffer.from(sha, 'hex'),
    ]);
    return stored(trees, 'tree', Buffer.concat(bytes), sorted);
  };
  const writeFiles = (files: Files): string => {
    const own: TreeEntry[] = [];
    const below = new Map<string, Map<string, FileEntry>>();
    for (const [path, entry] of files) {
      const slash = path.indexOf('/');
      if (slash < 0) own.push({ ...entry, name: path });
      else {
        const folder = below.get(path.slice(0, slash)) ?? new Map<string, FileEntry>();
        below.set(path.slice(0, slash), folder.set(path.slice(slash + 1), entry));
      }
    }
    const folders = [...below].map(([name, inside]) => {
      return { mode: '040000' as const, name, sha: writeFiles(inside) };
    });
    return writeTree([...own, ...folders]);
  };
  const history = (sha: string): readonly string[] => {
    const seen = new Set([sha]);
    for (const one of seen) for (const parent of commits.get(one)?.parents ?? []) seen.add(parent);
    const dateOf = (one: string): number => commits.get(one)?.author.date ?? 0;
    return [...seen].toSorted((one, other) => dateOf(other) - dateOf(one));
  };
  const files = (treeSha: string): Files =>
    new Map(
      (trees.get(treeSha) ?? []).flatMap(({ mode, name, sha }): [string, FileEntry][] =>
        mode === '040000'
          ? [...files(sha)].map(([path, entry]) => [`${name}/${path}`, entry])
          : [[name, { mode, sha }]],
      ),
    );
  return {
    writeBlob,
    writeFiles,
    writeCommit: (commit) => {
      const { tree, parents, message, author } = commit;
      const when = `${author.name} <${author.email}> ${Math.floor(author.date / 1000)} +0000`;
      const head = [
        `tree ${tree}`,
        ...parents.map((sha) => `parent ${sha}`),
        `author ${when}`,
        `committer ${when}`,
      ];
      return stored(commits, 'commit', Buffer.from(`${head.join('\n')}\n\n${message}`), commit);
    },
    blob: (sha) => blobs.get(sha),
    tree: (sha) => trees.get(sha),
    commit: (sha) => commits.get(sha),
    files,
    history,
    mergeBase: (one, other) => {
      const known = new Set(history(one));
      return history(other).find((sha) => known.has(sha));
    },
  };
}

function stored<T>(to: Map<string, T>, type: string, bytes: Buffer, value: T): string {
  const sha = createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
  if (!to.has(sha)) to.set(sha, value);
  return sha;
}

/** Git sorts folders as if their names ended with a slash. */
const sortName = ({ mode, name }: TreeEntry): string => (mode === '040000' ? `${name}/` : name);

export function changesBetween(before: Files, after: Files): readonly FileChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths.flatMap((path): FileChange[] => {
    const [was, is] = [before.get(path), after.get(path)];
    if (was?.sha === is?.sha && was?.mode === is?.mode) return [];
    const status = was ? (is ? 'modified' : 'removed') : 'added';
    return [{ path, status, ...(was && { before: was }), ...(is && { after: is }) }];
  });
}

/** A three-way merge by whole files; undefined if both sides changed a file differently. */
export function mergeFiles(base: Files, ours: Files, theirs: Files): Files | undefined {
  const merged = new Map(ours);
  for (const { path, after } of changesBetween(base, theirs)) {
    const same = (one?: FileEntry, other?: FileEntry) =>
      one?.sha === other?.sha && one?.mode === other?.mode;
    if (!same(ours.get(path), base.get(path)) && !same(ours.get(path), after)) return undefined;
    if (after) merged.set(path, after);
    else merged.delete(path);
  }
  return merged;
}

export interface Patch {
  readonly additions: number;
  readonly deletions: number;
  /** Undefined for a binary file. */
  readonly text?: string;
}

/** One hunk around the changed lines. */
export function patchOf(git: Git, { before, after }: FileChange): Patch {
  const [was, is] = [before, after].map((file) => (file && git.blob(file.sha)) ?? Buffer.alloc(0));
  if (!was || !is || was.includes(0) || is.includes(0)) return { additions: 0, deletions: 0 };
  const [old, now] = [linesOf(was), linesOf(is)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end))
    end += 1;
  const [removed, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const from = (count: number): string => `${count === 0 ? start : start + 1},${count}`;
  const text = [
    `@@ -${from(removed.length)} +${from(added.length)} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
  ].join('\n');
  return { additions: added.length, deletions: removed.length, text };
}

function linesOf(bytes: Buffer): string[] {
  const text = bytes.toString();
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

export function diffOf(git: Git, changes: readonly FileChange[]): string {
  return changes
    .map((change) => {
      const { path, status, before, after } = change;
      const head = [
        `diff --git a/${path} b/${path}`,
        ...(status === 'added' ? [`new file mode ${after?.mode}`] : []),
        ...(status === 'removed' ? [`deleted file mode ${before?.mode}`] : []),
        `--- ${before ? `a/${path}` : '/dev/null'}`,
        `+++ ${after ? `b/${path}` : '/dev/null'}`,
      ];
      return [...head, patchOf(git, change).text ?? 'Binary files differ'].join('\n');
    })
    .join('\n');
}
