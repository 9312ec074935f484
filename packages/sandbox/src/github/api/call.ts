import type * as z from 'zod';
import type { CommitLog } from '../../server/commit-log.js';
import type { Exchange } from '../../server/upstream.js';
import type { Json } from '../../json.js';
import type { Access, Auth, AuthKind, Caller } from '../auth.js';
import type { RateLimits, Resource } from '../limits.js';
import { invalid, notFound, problem } from '../problems.js';
import type { Issue, Pull, Repo, World } from '../world.js';

/** A state change. `content` is equal for equal acts, so that repetitions can be counted. */
export interface Act {
  readonly kind: string;
  readonly repo: string;
  readonly number?: number;
  readonly id?: number | string;
  readonly content: string;
}

/** The state that all handlers share. */
export interface GithubState {
  readonly world: World;
  readonly commits: CommitLog<Act>;
  readonly auth: Auth;
  readonly limits: RateLimits;
  /** `ghes`: no rate-limit headers, paths under `/api/v3`. */
  readonly flavour: 'github.com' | 'ghes';
  readonly logLinks: Map<string, { readonly text: string; readonly until: number }>;
  readonly origins: Readonly<Record<string, string>>;
  /** Where links of responses begin. */
  readonly apiUrl: string;
  readonly maxDiffFiles: number;
}

/** An authenticated request. */
export interface Call extends GithubState {
  readonly caller: Caller;
  readonly version: string;
  readonly param: (name: string) => string;
  readonly query: URLSearchParams;
  readonly url: URL;
  readonly accept: string;
  readonly exchange: Exchange;
  readonly body: <Value>(schema: z.ZodType<Value>) => Promise<Value>;
}

export interface Reply {
  readonly status?: number;
  readonly json?: Json;
  readonly text?: { readonly type: string; readonly body: string | Buffer };
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiRoute {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly auth?: AuthKind;
  readonly needs?: readonly [permission: string, access: Access];
  readonly resource?: Resource;
  readonly createsContent?: true;
  readonly handle: (call: Call) => Reply | Promise<Reply>;
}

type RouteLine = `${ApiRoute['method']} ${string}`;
type RouteTraits = Pick<ApiRoute, 'auth' | 'resource' | 'createsContent'>;
/** The permission that a fine-grained or installation token needs: `issues:read`. */
type Permission = `${string}:${Access}`;

/** A route by its method and path: `GET /user`. */
export function route(
  name: string,
  line: RouteLine,
  traits: RouteTraits,
  handle: ApiRoute['handle'],
): ApiRoute {
  const [method, path = ''] = line.split(' ');
  return { name, method: method as ApiRoute['method'], path, ...traits, handle };
}

/** A route below a repository. Reads need no login. */
export function repoRoute(
  name: string,
  line: RouteLine,
  given: Permission | (RouteTraits & { readonly needs?: Permission }),
  handle: (call: Call, repo: Repo) => Reply | Promise<Reply>,
): ApiRoute {
  const { needs, ...traits } = typeof given === 'string' ? { needs: given } : given;
  const [permission = '', access] = needs?.split(':') ?? [];
  const below = line.replace(' ', ' /repos/:owner/:repo') as RouteLine;
  const auth = line.startsWith('GET') ? 'any' : 'token';
  return {
    ...route(name, below, { auth, ...traits }, (call) => handle(call, repoOf(call))),
    ...(access !== undefined && { needs: [permission, access as Access] }),
  };
}

export async function bodyOf<Value>(request: Request, schema: z.ZodType<Value>): Promise<Value> {
  const text = await request.text();
  let given: unknown;
  try {
    given = JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw problem(400, 'Problems parsing JSON');
  }
  const checked = schema.safeParse(given);
  if (checked.success) return checked.data;
  const reasons = checked.error.issues.map(
    ({ path, message }) => `"${path.join('.')}": ${message}.`,
  );
  throw invalid([], `Invalid request.\n\n${reasons.join('\n')}`);
}

/** The repository of the path. A private one without access does not exist. */
export function repoOf({ world, caller, param }: Call): Repo {
  const repo = world.repos.get(`${param('owner')}/${param('repo')}`.toLowerCase());
  if (!repo || !canSee(caller, repo)) throw notFound();
  return repo;
}

export function canSee({ account, kind, repositories }: Caller, repo: Repo): boolean {
  if (repositories && !repositories.includes(repo.name)) return false;
  return !repo.isPrivate || kind === 'installation' || repo.collaborators.has(account.login);
}

/** Installations push with their permission; users as collaborators. */
export function canPush({ account, kind, permissions }: Caller, repo: Repo): boolean {
  const allowed = permissions === undefined || Object.values(permissions).includes('write');
  return allowed && (kind === 'installation' || repo.collaborators.has(account.login));
}

export function requirePush(call: Call, repo: Repo): void {
  // GitHub hides what may not be changed.
  if (!canPush(call.caller, repo)) throw notFound();
}

export function numberIn(call: Call, name = 'number'): number {
  const given = call.param(name);
  if (!/^\d{1,10}$/.test(given)) throw notFound();
  return Number(given);
}

export function issueOf(call: Call, repo: Repo): Issue {
  const issue = repo.issues.get(numberIn(call));
  if (!issue) throw notFound();
  return issue;
}

export function pullOf(call: Call, repo: Repo): Issue & { readonly pull: Pull } {
  const issue = issueOf(call, repo);
  if (!issue.pull) throw notFound();
  return issue as Issue & { readonly pull: Pull };
}

/** The commit of a branch, tag, full ref or SHA. */
export function resolveRef({ world }: Call, repo: Repo, ref: string): string | undefined {
  const name = ref === 'HEAD' ? repo.defaultBranch : ref.replace(/^refs\//, '');
  const found =
    repo.refs.get(name) ?? repo.refs.get(`heads/${name}`) ?? repo.refs.get(`tags/${name}`);
  if (found !== undefined) return found;
  return world.git.commit(ref) ? ref : undefined;
}

export function commitAct(
  call: Call,
  { fullName }: Repo,
  act: Omit<Act, 'content' | 'repo'> & { readonly content: object },
): void {
  const { commits, world, exchange, caller } = call;
  const content = JSON.stringify(act.content);
  const at = world.clock.now();
  commits.append(
    { ...act, repo: fullName, content },
    { at, request: exchange.request, account: caller.account.login },
  );
}

const MAX_PER_PAGE = 100;

/** One page of a list, with the `Link` header of page numbers. */
export function paged<T>(
  call: Pick<Call, 'query' | 'url' | 'apiUrl'>,
  items: readonly T[],
  show: (item: T) => Json,
  wrap: (shown: readonly Json[], total: number) => Json = (shown) => shown,
): Reply {
  const [page, perPage] = [pageNumber(call, 'page', 1), perPageOf(call)];
  const last = Math.max(1, Math.ceil(items.length / perPage));
  const link = (rel: string, to: number): string => `<${linkTo(call, { page: to })}>; rel="${rel}"`;
  const links = [
    ...(page > 1 ? [link('prev', page - 1)] : []),
    ...(page < last ? [link('next', page + 1), link('last', last)] : []),
    ...(page > 1 ? [link('first', 1)] : []),
  ];
  const shown = items.slice((page - 1) * perPage, page * perPage).map(show);
  return {
    json: wrap(shown, items.length),
    headers: links.length > 0 ? { link: links.join(', ') } : {},
  };
}

/** One page of a list whose `Link` header has an opaque cursor and no page number. */
export function cursorPaged<T>(call: Call, items: readonly T[], show: (item: T) => Json): Reply {
  const perPage = perPageOf(call);
  const after = call.query.get('after');
  const start = after === null ? 0 : Number(Buffer.from(after, 'base64url').toString());
  if (!Number.isInteger(start)) throw problem(400, 'Invalid cursor');
  const end = start + perPage;
  const cursor = Buffer.from(String(end)).toString('base64url');
  const next = `<${linkTo(call, { after: cursor, page: undefined })}>; rel="next"`;
  return {
    json: items.slice(start, end).map(show),
    headers: end < items.length ? { link: next } : {},
  };
}

const perPageOf = (call: Pick<Call, 'query'>): number =>
  Math.min(MAX_PER_PAGE, pageNumber(call, 'per_page', 30));

function pageNumber({ query }: Pick<Call, 'query'>, name: string, fallback: number): number {
  const value = Number(query.get(name) ?? fallback);
  return Number.isInteger(value) && value > 0 ? value : fallback;
}

function linkTo(
  { url, apiUrl }: Pick<Call, 'url' | 'apiUrl'>,
  changes: Readonly<Record<string, string | number | undefined>>,
): string {
  const target = new URL(url.pathname + url.search, apiUrl);
  for (const [name, value] of Object.entries(changes))
    if (value === undefined) target.searchParams.delete(name);
    else target.searchParams.set(name, String(value));
  return target.href;
}
