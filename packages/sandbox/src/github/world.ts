import { createGit, type Files } from './git.js';
import type { Clock } from '../server/clock.js';
import { hash } from '../random.js';

export interface Account {
  readonly id: number;
  readonly login: string;
  readonly type: 'User' | 'Organization' | 'Bot';
}

interface Label {
  readonly id: number;
  readonly name: string;
  readonly color: string;
}

export interface Comment {
  readonly id: number;
  readonly user: Account;
  body: string;
  readonly createdAt: number;
}

export interface Review extends Comment {
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'PENDING';
  readonly commitId: string;
}

export interface ReviewComment extends Comment {
  readonly path: string;
  readonly line: number;
  readonly side: 'LEFT' | 'RIGHT';
  readonly commitId: string;
  readonly reviewId: number;
  readonly inReplyTo?: number;
}

export interface Thread {
  readonly id: string;
  /** The id of the first comment. */
  readonly root: number;
  resolved: boolean;
}

export interface Pull {
  readonly head: string;
  base: string;
  /** The last commit of the head branch, kept when the branch is deleted. */
  headSha: string;
  baseSha: string;
  draft: boolean;
  mergedAt?: number;
  mergeSha?: string;
  autoMerge?: string;
  readonly reviewers: string[];
  readonly reviews: Review[];
  readonly comments: ReviewComment[];
  readonly threads: Thread[];
}

export interface Issue {
  readonly id: number;
  readonly number: number;
  readonly user: Account;
  title: string;
  body: string;
  state: 'open' | 'closed';
  stateReason: string | null;
  labels: string[];
  assignees: string[];
  milestone: number | null;
  readonly createdAt: number;
  updatedAt: number;
  closedAt: number | null;
  readonly comments: Comment[];
  readonly subIssues: number[];
  readonly pull?: Pull;
}

export interface Release {
  readonly id: number;
  readonly tag: string;
  readonly name: string;
  readonly body: string;
  readonly draft: boolean;
  readonly prerelease: boolean;
  readonly target: string;
  readonly createdAt: number;
}

export interface Job {
  readonly id: number;
  readonly name: string;
  readonly conclusion: string;
  readonly log: string;
}

export interface Run {
  readonly id: number;
  readonly workflow: number;
  readonly number: number;
  readonly branch: string;
  readonly sha: string;
  readonly event: string;
  attempt: number;
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: string | null;
  readonly createdAt: number;
  updatedAt: number;
  readonly jobs: Job[];
}

interface CheckRun {
  readonly id: number;
  readonly name: string;
  readonly sha: string;
  readonly externalId: string;
  readonly status: string;
  readonly conclusion: string | null;
}

export interface Repo {
  readonly id: number;
  readonly owner: Account;
  readonly name: string;
  readonly fullName: string;
  readonly isPrivate: boolean;
  readonly defaultBranch: string;
  /** Users who may push. */
  readonly collaborators: Set<string>;
  readonly refs: Map<string, string>;
  readonly labels: Map<string, Label>;
  readonly milestones: { readonly number: number; readonly title: string }[];
  readonly issues: Map<number, Issue>;
  readonly releases: Release[];
  readonly workflows: { readonly id: number; readonly name: string; readonly path: string }[];
  readonly runs: Run[];
  readonly checks: CheckRun[];
}

interface Notification {
  readonly id: string;
  readonly login: string;
  readonly repo: Repo;
  readonly reason: string;
  readonly subject: { readonly title: string; readonly type: string; readonly number: number };
  unread: boolean;
  readonly updatedAt: number;
}

export type World = ReturnType<typeof createWorld>;

interface CommitFiles {
  readonly files: Files;
  readonly message: string;
  readonly by: Account;
  readonly date?: number;
}

interface NewIssue {
  readonly user: Account;
  readonly title: string;
  readonly body?: string;
  readonly labels?: readonly string[];
  readonly assignees?: readonly string[];
  readonly milestone?: number | null;
  readonly pull?: Pull;
}

export function createWorld(clock: Clock) {
  const git = createGit();
  const users = new Map<string, Account>();
  const repos = new Map<string, Repo>();
  let lastId = 2_000_000_000;
  /** Database ids, far above any issue number. */
  const nextId = (): number => (lastId += 1);
  return {
    clock,
    git,
    users,
    repos,
    notifications: [] as Notification[],
    nextId,
    addUser: (login: string, type: Account['type'] = 'User'): Account => {
      const user = { id: 1000 + (hash('user', login) % 1_000_000), login, type };
      users.set(login.toLowerCase(), user);
      return user;
    },
    addRepo: (owner: Account, name: string, isPrivate = false): Repo => {
      const fullName = `${owner.login}/${name}`;
      const repo: Repo = {
        id: hash('repo', fullName),
        owner,
        name,
        fullName,
        isPrivate,
        defaultBranch: 'main',
        collaborators: new Set(),
        refs: new Map(),
        labels: new Map(),
        milestones: [],
        issues: new Map(),
        releases: [],
        workflows: [],
        runs: [],
        checks: [],
      };
      repos.set(fullName.toLowerCase(), repo);
      return repo;
    },
    /** Commits files to a branch. */
    commitFiles: (
      repo: Repo,
      branch: string,
      { files, message, by, date = clock.now() }: CommitFiles,
    ): string => {
      const parent = repo.refs.get(`heads/${branch}`);
      const author = { name: by.login, email: `${by.login}@users.noreply.github.com`, date };
      const tree = git.writeFiles(files);
      const parents = parent === undefined ? [] : [parent];
      const sha = git.writeCommit({ tree, parents, message, author });
      repo.refs.set(`heads/${branch}`, sha);
      return sha;
    },
    addIssue: (repo: Repo, given: NewIssue): Issue => {
      const { labels = [], assignees = [], body = '', milestone = null, ...rest } = given;
      const now = clock.now();
      const issue: Issue = {
        ...rest,
        id: nextId(),
        number: repo.issues.size + 1,
        body,
        labels: [...labels],
        assignees: [...assignees],
        milestone,
        state: 'open',
        stateReason: null,
        createdAt: now,
        updatedAt: now,
        closedAt: null,
        comments: [],
        subIssues: [],
      };
      repo.issues.set(issue.number, issue);
      return issue;
    },
  };
}

/** The files of a branch, tag or commit. */
export function filesAt({ git }: World, commitSha: string | undefined): Files {
  const commit = commitSha === undefined ? undefined : git.commit(commitSha);
  return commit ? git.files(commit.tree) : new Map();
}

/** The head of an open pull request follows its branch. */
export function headOf(repo: Repo, pull: Pull): string {
  const current = pull.mergedAt === undefined ? repo.refs.get(`heads/${pull.head}`) : undefined;
  if (current !== undefined) pull.headSha = current;
  return pull.headSha;
}
