import type { Clock } from '../server/clock.js';
import { addReviewComment, newPull } from './api/pulls.js';
import type { FileEntry, Mode } from './git.js';
import { createWorld, filesAt, type Account, type Issue, type Repo, type World } from './world.js';

/** Records with known properties, for tests and examples. */
export interface GithubLandmarks {
  readonly owner: string;
  readonly repo: string;
  /** The user of the default token, who may push to `repo` but not to `readOnlyRepo`. */
  readonly login: string;
  readonly readOnlyRepo: string;
  readonly privateRepo: string;
  readonly collaborator: string;
  /** Not a collaborator: cannot be asked for a review. */
  readonly outsider: string;
  readonly issue: number;
  /** An open pull request with 31 reviews and three threads. */
  readonly pull: number;
  /** Changes more files than a diff may contain. */
  readonly largePull: number;
  readonly conflictingPull: number;
  /** A branch with commits and without a pull request. */
  readonly featureBranch: string;
  readonly executable: string;
  readonly emptyFile: string;
  readonly binaryFile: string;
  readonly largeFile: string;
  readonly workflow: string;
  readonly failedRun: number;
  readonly runningRun: number;
  readonly failedJob: number;
  readonly release: string;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const LARGE_BYTES = 1_500_000;

const initialFiles: readonly (readonly [path: string, content: string | Buffer, mode?: Mode])[] = [
  ['README.md', '# Harbor\n\nA small service that keeps ships in berths.\n'],
  ['package.json', '{\n  "name": "harbor",\n  "version": "1.0.0"\n}\n'],
  ['src/index.ts', "export { berth } from './berth.js';\n"],
  [
    'src/berth.ts',
    'export function berth(ship: string): string {\n  return `${ship} is moored`;\n}\n',
  ],
  ['src/deep/nested/tide.ts', 'export const tide = 3.2;\n'],
  ['bin/moor.sh', '#!/bin/sh\necho moored\n', '100755'],
  ['docs/.gitkeep', ''],
  ['assets/anchor.bin', Buffer.from([0, 1, 2, 3, 255, 254, 0, 7])],
  ['data/tides.csv', `time,level\n${'2026-01-01T00:00:00Z,3.2\n'.repeat(LARGE_BYTES / 25)}`],
  ['CHANGELOG.md', '# Changes\n'],
];

/** A small world: one active repository with every kind of record, and two with less access. */
export function populatedWorld(clock: Clock): {
  readonly world: World;
  readonly landmarks: GithubLandmarks;
  readonly me: Account;
  readonly bot: Account;
} {
  const world = createWorld(clock);
  const me = world.addUser('harbor-dev');
  const collaborator = world.addUser('pilot');
  const outsider = world.addUser('stranger');
  const bot = world.addUser('toolkeel-sandbox[bot]', 'Bot');
  const org = world.addUser('seaport', 'Organization');
  const repo = world.addRepo(org, 'harbor');
  const readOnly = world.addRepo(org, 'lighthouse');
  const secret = world.addRepo(org, 'customs', true);
  for (const login of [me.login, collaborator.login]) repo.collaborators.add(login);
  secret.collaborators.add(collaborator.login);

  const start = clock.now() - 30 * DAY;
  const files = new Map<string, FileEntry>();
  for (const [path, content, mode = '100644'] of initialFiles)
    files.set(path, { mode, sha: world.git.writeBlob(Buffer.from(content)) });
  world.commitFiles(repo, 'main', { files, message: 'Build the harbor', by: me, date: start });
  for (let at = 1; at < 40; at += 1) {
    const text = `# Changes\n\n${Array.from({ length: at }, (_, n) => `- change ${n + 1}`).join('\n')}\n`;
    files.set('CHANGELOG.md', { mode: '100644', sha: world.git.writeBlob(Buffer.from(text)) });
    const by = at % 3 === 0 ? collaborator : me;
    const date = start + at * MINUTE;
    world.commitFiles(repo, 'main', { files, message: `Record change ${at}`, by, date });
  }
  for (const other of [readOnly, secret]) {
    const one = new Map([['README.md', files.get('README.md') as FileEntry]]);
    world.commitFiles(other, 'main', {
      files: one,
      message: 'Begin',
      by: collaborator,
      date: start,
    });
    world.addIssue(other, { user: collaborator, title: 'Paint it', body: 'In red and white.' });
  }

  for (const [name, color] of [
    ['bug', 'd73a4a'],
    ['enhancement', 'a2eeef'],
    ['docs', '0075ca'],
  ] as const)
    repo.labels.set(name, { id: world.nextId(), name, color });
  repo.milestones.push({ number: 1, title: 'Spring tide' });
  for (let at = 1; at <= 45; at += 1) {
    const labels = at % 2 === 0 ? ['bug'] : ['enhancement'];
    const issue = world.addIssue(repo, {
      user: at % 3 === 0 ? collaborator : me,
      title: `Issue ${at}: berth ${at} is too short`,
      body: `Ships longer than ${at * 10} m do not fit.`,
      labels,
    });
    if (at % 9 === 0) Object.assign(issue, { state: 'closed', stateReason: 'completed' });
  }
  const discussed = repo.issues.get(7) as Issue;
  for (let at = 1; at <= 35; at += 1)
    discussed.comments.push({
      id: world.nextId(),
      user: at % 2 === 0 ? collaborator : me,
      body: `Comment ${at}`,
      createdAt: start + at * MINUTE,
    });

  const changed = (branch: string, changes: Readonly<Record<string, string | undefined>>) =>
    addBranch(world, repo, branch, changes, me);
  const open = (branch: string, title: string) => openPull(world, repo, branch, title, me);
  changed('longer-berths', {
    'src/berth.ts':
      'export function berth(ship: string, metres: number): string {\n  return `${ship} is moored on ${metres} m`;\n}\n',
    'src/quay.ts': 'export const quay = 7;\n',
  });
  const pull = open('longer-berths', 'Make berths longer');
  reviewPull(world, pull, collaborator);
  changed(
    'many-files',
    Object.fromEntries(Array.from({ length: 301 }, (_, at) => [`many/file-${at}.txt`, `${at}\n`])),
  );
  const large = open('many-files', 'Add many files');
  addBranch(world, repo, 'conflict', { 'README.md': '# Harbour\n' }, me, 1);
  const conflicting = open('conflict', 'Spell it differently');
  world.commitFiles(repo, 'main', {
    files: new Map(filesAt(world, repo.refs.get('heads/main'))).set('README.md', {
      mode: '100644',
      sha: world.git.writeBlob(Buffer.from('# Harbor\n\nKeeps ships in berths.\n')),
    }),
    message: 'Shorten the README',
    by: collaborator,
    date: start + DAY,
  });
  changed('tide-table', { 'src/tides.ts': 'export const tides = [3.2, 0.4];\n' });

  const run = addActions(world, repo);
  repo.refs.set('tags/v1.0.0', repo.refs.get('heads/main') ?? '');
  repo.releases.push({
    id: world.nextId(),
    tag: 'v1.0.0',
    name: 'First tide',
    body: 'The first release.',
    draft: false,
    prerelease: false,
    target: 'main',
    createdAt: start,
  });
  for (let at = 1; at <= 3; at += 1)
    world.notifications.push({
      id: String(world.nextId()),
      login: me.login,
      repo,
      reason: at === 1 ? 'review_requested' : 'mention',
      subject:
        at === 1
          ? { title: pull.title, type: 'PullRequest', number: pull.number }
          : { title: `Issue ${at}`, type: 'Issue', number: at },
      unread: true,
      updatedAt: start + at * MINUTE,
    });

  return {
    world,
    me,
    bot,
    landmarks: {
      owner: org.login,
      repo: repo.name,
      login: me.login,
      readOnlyRepo: readOnly.name,
      privateRepo: secret.name,
      collaborator: collaborator.login,
      outsider: outsider.login,
      issue: discussed.number,
      pull: pull.number,
      largePull: large.number,
      conflictingPull: conflicting.number,
      featureBranch: 'tide-table',
      executable: 'bin/moor.sh',
      emptyFile: 'docs/.gitkeep',
      binaryFile: 'assets/anchor.bin',
      largeFile: 'data/tides.csv',
      workflow: 'ci.yml',
      release: 'v1.0.0',
      ...run,
    },
  };
}

function addBranch(
  world: World,
  repo: Repo,
  branch: string,
  changes: Readonly<Record<string, string | undefined>>,
  by: Account,
  days = 0,
): void {
  const base = repo.refs.get('heads/main') ?? '';
  repo.refs.set(`heads/${branch}`, base);
  const files = new Map(filesAt(world, base));
  for (const [path, content] of Object.entries(changes))
    if (content === undefined) files.delete(path);
    else files.set(path, { mode: '100644', sha: world.git.writeBlob(Buffer.from(content)) });
  const date = world.clock.now() - (2 + days) * DAY;
  world.commitFiles(repo, branch, { files, message: `Work on ${branch}`, by, date });
}

function openPull(world: World, repo: Repo, branch: string, title: string, user: Account) {
  const sha = (ref: string): string => repo.refs.get(`heads/${ref}`) ?? '';
  const pull = newPull(branch, 'main', sha(branch), sha('main'));
  return world.addIssue(repo, { user, title, body: `Changes on ${branch}.`, pull });
}

function reviewPull(world: World, { pull }: Issue, user: Account): void {
  if (!pull) return;
  for (let at = 1; at <= 31; at += 1)
    pull.reviews.push({
      id: world.nextId(),
      user,
      body: `Review ${at}`,
      createdAt: world.clock.now() - DAY + at * MINUTE,
      state: at === 31 ? 'CHANGES_REQUESTED' : 'COMMENTED',
      commitId: pull.headSha,
    });
  const reviewId = pull.reviews.at(-1)?.id ?? 0;
  const at = { side: 'RIGHT', commitId: pull.headSha, reviewId } as const;
  for (const [path, line, body] of [
    ['src/berth.ts', 1, 'Name the unit.'],
    ['src/berth.ts', 2, 'Is this the longest ship?'],
    ['src/quay.ts', 1, 'Why seven?'],
  ] as const)
    addReviewComment({ world, caller: { account: user } }, pull, { ...at, path, line, body });
}

function addActions(world: World, repo: Repo) {
  const workflow = { id: world.nextId(), name: 'CI', path: '.github/workflows/ci.yml' };
  repo.workflows.push(workflow);
  const sha = repo.refs.get('heads/main') ?? '';
  const add = (status: 'completed' | 'in_progress', conclusion: string | null, at: number) => {
    const createdAt = world.clock.now() - DAY + at * MINUTE;
    const lines = Array.from({ length: 400 }, (_, n) => `2026-11-01T10:00:00.000Z line ${n + 1}`);
    const log = [
      ...lines,
      conclusion === 'failure' ? '##[error]Process completed with exit code 1.' : 'done',
    ];
    const job = {
      id: world.nextId(),
      name: 'test',
      conclusion: conclusion ?? '',
      log: log.join('\n'),
    };
    const run = {
      id: world.nextId(),
      workflow: workflow.id,
      number: repo.runs.length + 1,
      branch: 'main',
      sha,
      event: 'push',
      attempt: 1,
      status,
      conclusion,
      createdAt,
      updatedAt: createdAt,
      jobs: [job],
    };
    repo.runs.push(run);
    return run;
  };
  for (let at = 1; at <= 33; at += 1) add('completed', 'success', at);
  const failed = add('completed', 'failure', 34);
  const running = add('in_progress', null, 35);
  repo.checks.push({
    id: world.nextId(),
    name: 'test',
    sha,
    externalId: 'initial',
    status: 'completed',
    conclusion: 'failure',
  });
  return { failedRun: failed.id, runningRun: running.id, failedJob: failed.jobs[0]?.id ?? 0 };
}
