import * as z from 'zod';
import { checked, UsageError } from '../faults/rules.js';
import { createClock, type Clock } from '../server/clock.js';
import { commitQuery, createCommits, type CommitOf, type QueryOf } from '../server/commit-log.js';
import {
  openSandbox,
  type CommonOptions,
  type ExtraControl,
  type Sandbox,
} from '../server/sandbox.js';
import type { Act, GithubState } from './api/call.js';
import { moveBranch } from './api/repos.js';
import { createAuth, type AppCredentials, type TokenOptions } from './auth.js';
import {
  createLimits,
  documentedSecondary,
  type PrimaryLimits,
  type SecondaryLimits,
} from './limits.js';
import { populatedWorld, type GithubLandmarks } from './populate.js';
import { githubUpstream } from './upstream.js';
import { filesAt, type Repo } from './world.js';

export type GithubAct = Act;
export type GithubCommit = CommitOf<Act>;

const HOUR = 3_600_000;

/** Starts the GitHub API on loopback, with a synthetic repository and fault injection. */
export async function startGithubSandbox(
  options: GithubSandboxOptions = {},
): Promise<GithubSandbox> {
  const { seed = 1, flavour = 'github.com' } = options;
  const clock = createClock(options.startAt);
  const { world, landmarks, me, bot } = populatedWorld(clock);
  const commits = createCommits<Act>();
  const auth = createAuth(clock, {
    seed,
    bot,
    users: world.users,
    installationLifetimeMs: options.installationTokenLifetimeMs ?? HOUR,
    installationId: options.installationId ?? 5_000_000,
  });
  const limits = createLimits(clock, options.limits ?? {}, {
    ...documentedSecondary,
    ...options.secondary,
  });
  const repoNamed = (name: string): Repo => {
    const repo = world.repos.get(`${landmarks.owner}/${name}`.toLowerCase());
    if (!repo) throw new UsageError(`"${name}" is not a repository of ${landmarks.owner}`);
    return repo;
  };
  const controls: GithubControls = {
    commits: commits.entries,
    duplicates: () => {
      const seen = new Set<string>();
      return commits.entries().filter(({ kind, repo, content }) => {
        const act = `${kind} ${repo} ${content}`;
        return seen.size === seen.add(act).size;
      });
    },
    clock: { now: clock.now, advance: clock.advance },
    issueToken: ({ login = me.login, ...given } = {}) => {
      const account = world.users.get(login.toLowerCase());
      if (!account) throw new UsageError(`"${login}" is not a user of this sandbox`);
      return auth.issue(account, given);
    },
    revokeToken: auth.revoke,
    app: auth.app,
    setLimits: limits.setPrimary,
    moveBranch: (branch, path) =>
      moveBranch({ world }, repoNamed(landmarks.repo), `heads/${branch}`, path),
    fileModes: (branch) => {
      const sha = repoNamed(landmarks.repo).refs.get(`heads/${branch}`);
      const files = [...filesAt(world, sha)];
      return Object.fromEntries(files.map(([path, { mode }]) => [path, mode]));
    },
    readFile: (branch, path) => {
      const sha = repoNamed(landmarks.repo).refs.get(`heads/${branch}`);
      const file = filesAt(world, sha).get(path);
      return file && world.git.blob(file.sha)?.toString();
    },
    token: auth.issue(me),
    landmarks,
  };
  const ports = { api: options.port ?? 0, logs: 0 };
  const extraControl = githubControl(controls);
  const { origins, ...sandbox } = await openSandbox(
    { ...options, seed, ports, extraControl },
    (known) => {
      const apiUrl = known['api'] ?? '';
      const state: GithubState = {
        world,
        commits,
        auth,
        limits,
        flavour,
        logLinks: new Map(),
        origins: known,
        apiUrl,
        maxDiffFiles: 300,
      };
      return githubUpstream(state);
    },
  );
  const origin = origins['api'] ?? '';
  const url = flavour === 'ghes' ? `${origin}/api/v3` : origin;
  return { ...sandbox, ...controls, url, logsUrl: origins['logs'] ?? '' };
}

interface GithubControls {
  /** The ground truth: all state changes, in order. Git objects without a ref are not effects. */
  readonly commits: (query?: QueryOf<string>) => GithubCommit[];
  /** The acts that repeat an earlier one with equal content. */
  readonly duplicates: () => GithubCommit[];
  /** The upstream's clock, which drives rate limits, tokens and JWT checks. */
  readonly clock: Clock;
  /** Issues a classic token, or a fine-grained one if `permissions` are given. */
  readonly issueToken: (options?: TokenOptions) => string;
  readonly revokeToken: (token: string) => boolean;
  /** The credentials of the installed GitHub App. The key pair is created on first use. */
  readonly app: () => AppCredentials;
  readonly setLimits: (limits: Partial<PrimaryLimits>) => void;
  /** Another client commits to a branch of the landmark repository. Returns the new commit. */
  readonly moveBranch: (branch: string, path?: string) => string;
  /** The modes of all files of a branch. */
  readonly fileModes: (branch: string) => Readonly<Record<string, string>>;
  readonly readFile: (branch: string, path: string) => string | undefined;
  /** A classic token of `landmarks.login`. */
  readonly token: string;
  readonly landmarks: GithubLandmarks;
}

export interface GithubSandbox extends Sandbox, GithubControls {
  /** The base URL of the REST API. */
  readonly url: string;
  /** The origin of log files, which is not the API's. */
  readonly logsUrl: string;
}

export interface GithubSandboxOptions extends CommonOptions {
  /** The start of the upstream's clock, in milliseconds since 1970. Default: now. */
  readonly startAt?: number;
  /** `ghes`: Enterprise Server: `/api/v3`, no rate limits and no rate-limit headers. */
  readonly flavour?: 'github.com' | 'ghes';
  /** Overrides of the documented primary limits. */
  readonly limits?: Partial<PrimaryLimits>;
  /** Overrides of the documented secondary limits. */
  readonly secondary?: Partial<SecondaryLimits>;
  /** Default: an hour. */
  readonly installationTokenLifetimeMs?: number;
  readonly installationId?: number;
}

const clockSchema = z.strictObject({ advanceMs: z.number() });
const limitsSchema = z.strictObject({
  core: z.exactOptional(z.number()),
  search: z.exactOptional(z.number()),
  code_search: z.exactOptional(z.number()),
  graphql: z.exactOptional(z.number()),
});
const tokenSchema = z.strictObject({
  login: z.exactOptional(z.string()),
  permissions: z.exactOptional(z.record(z.string(), z.enum(['read', 'write']))),
  lifetimeMs: z.exactOptional(z.number().min(0)),
});
const revokeSchema = z.strictObject({ token: z.string() });
const moveSchema = z.strictObject({ branch: z.string(), path: z.exactOptional(z.string()) });

/** The GitHub-specific routes of the control endpoint. */
function githubControl(controls: GithubControls): ExtraControl {
  return {
    state: () => ({
      now: controls.clock.now(),
      token: controls.token,
      landmarks: controls.landmarks,
    }),
    reads: {
      '/commits': (query) => ({ commits: controls.commits(commitQuery(query)) }),
      '/duplicates': () => ({ duplicates: controls.duplicates() }),
      '/app': () => controls.app(),
    },
    sets: {
      '/clock': (given) =>
        controls.clock.advance(checked(clockSchema, given, 'the clock').advanceMs),
      '/limits': (given) => controls.setLimits(checked(limitsSchema, given, 'the limits')),
      '/tokens': (given) => ({
        token: controls.issueToken(checked(tokenSchema, given, 'the token')),
      }),
      '/revoke': (given) => ({
        revoked: controls.revokeToken(checked(revokeSchema, given, 'the token').token),
      }),
      '/move': (given) => {
        const { branch, path } = checked(moveSchema, given, 'the move');
        return { sha: controls.moveBranch(branch, path) };
      },
    },
  };
}
