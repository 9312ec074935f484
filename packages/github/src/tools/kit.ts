import {
  outcomeOfFault,
  page,
  rateLimitMeta,
  toolError,
  type AccountId,
  type CheckContext,
  type ErrorCode,
  type NoSchema,
  type ObjectSchema,
  type OutputOf,
  type Reconcile,
  type Reconciliation,
  type Schema,
  type Tool,
  type ToolContext,
  type ToolSpec,
  type UnknownOperation,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import {
  asFault,
  callContextOf,
  createToolFactory,
  describeFailure,
  headerOf,
  memberOf,
  numberOf,
  pause,
  stringOf,
  type BoundedMap,
  type CallContext,
} from '@toolkeel/pack-kit';
import type { GitHubClient } from '../client/client.js';
import { documented, itemsIn } from '../client/document.js';
import type { Call, GitHubResponse, Parameters } from '../client/request.js';
import { rejectionOf } from '../client/faults.js';
import type { GitHubConfig } from '../config.js';
import { faultToError } from '../faults.js';
import type { CursorSchema, PageCursor } from './specs/index.js';

/** What the tools of one configured credential share. */
export interface Kit {
  readonly client: GitHubClient;
  readonly config: GitHubConfig;
  /** Rejects if no credential is configured. */
  readonly requireCredential: () => void;
  /** The account that acts, as GitHub identifies it. */
  readonly identity: Identity;
  /** Pages that an answer cut, so that their rest is not fetched again. */
  readonly pages: BoundedMap<unknown>;
  /** The commit that an operation puts on a branch, by the operation's id. */
  readonly commits: BoundedMap<string>;
}

export interface Identity {
  readonly resolve: (call: Call) => Promise<AccountId & { readonly login?: string }>;
}

/** The configured account by GitHub's own id, resolved once per credential. */
export function createIdentity(client: GitHubClient): Identity {
  let known: { readonly key: string; readonly id: string; readonly login?: string } | undefined;
  return {
    resolve: async (call) => {
      const { host } = client.baseUrl;
      const { kind, key } = client.credential;
      if (kind === 'app') return { id: `github:${host}:${key}` };
      if (known?.key === key) return known;
      try {
        const { data } = await client.read<{ id: number; login: string }>('GET /user', {}, call);
        const id = numberOf(memberOf(data, 'id'));
        if (id === undefined) throw new FaultError({ kind: 'bad_response', sent: 'answered' });
        known = { key, id: `github:${host}:${id}`, login: data.login };
      } catch (cause) {
        // The token of a workflow or an installation has no user.
        if (rejectionOf(cause)?.status !== 403) throw cause;
        known = { key, id: `github:${host}:${key}` };
      }
      return known;
    },
  };
}

/** A call, and the operation that the journal recorded it as. */
export interface GitHubCall extends CallContext {
  readonly operationId: string | undefined;
}

/** A tool that calls GitHub. All requests of one call share its deadline. */
export const githubTool = createToolFactory<Kit, GitHubCall>({
  callOf: (kit, context) =>
    Object.assign(callOf(kit, context), { operationId: context.operation?.id }),
  faultToError,
  common: ({ config, identity, requireCredential }, { mutation }) => ({
    account: config.account,
    ...(mutation && {
      accountId: (_: unknown, context: CheckContext) => identity.resolve(context),
    }),
    check: async ({ argumentsOnly }) => {
      try {
        if (!argumentsOnly) requireCredential();
      } catch (cause) {
        throw asFault(cause);
      }
    },
  }),
});

function callOf({ client, config }: Kit, context: ToolContext): CallContext {
  return callContextOf(context, client.clock.now(), config.toolTimeoutSecs * 1000);
}

/** `owner/name` as the parameters of a route. */
export function repoOf(repo: string): { readonly owner: string; readonly repo: string } {
  const [owner = '', name = ''] = repo.split('/');
  return { owner, repo: name };
}

interface Listing<Args, Item> {
  readonly items: string;
  readonly route: string;
  readonly parameters: (args: Args) => Parameters;
  readonly accept?: string;
  /** Finds the items in a page. Default: the page itself. */
  readonly itemsOf?: (data: unknown) => unknown;
  readonly show: (item: Item) => unknown;
  /** Further members of the answer. */
  readonly extra?: (data: unknown, args: Args, call: CallContext) => unknown;
}

export const rateLimitOf = ({ client }: Kit, resource = 'core') => {
  const info = client.rateLimits().budgets.find((budget) => budget.resource === resource);
  return info && rateLimitMeta(info);
};

/** The member of a page that contains its items, such as `workflow_runs`. */
export const member = (name: string) => (data: unknown) => memberOf(data, name);

/** A tool that pages through a list: GitHub's `next` link is followed verbatim. */
export function listTool<In extends ObjectSchema, Out extends Schema, Code extends ErrorCode, Item>(
  spec: ToolSpec<In, Out, Code, NoSchema, CursorSchema>,
  kit: Kit,
  listing: Listing<OutputOf<In>, Item>,
): Tool<In, Out> {
  return githubTool(spec, kit, (args, call) => listPage(kit, listing, args, call, call.cursor));
}

export async function listPage<Args, Item>(
  kit: Kit,
  listing: Listing<Args, Item>,
  args: Args,
  call: CallContext,
  cursor: PageCursor | undefined,
): Promise<never> {
  const { items: name, show, extra } = listing;
  const { itemsOf = (data: unknown) => data, accept } = listing;
  const { client, pages } = kit;
  const { limit: per_page } = args as { readonly limit?: number };
  const skip = cursor?.k ?? 0;
  const load = async (): Promise<CachedPage> => {
    const held =
      cursor?.k === undefined ? undefined : (pages.get(cursor.u) as CachedPage | undefined);
    if (held) return held;
    const response: GitHubResponse = cursor
      ? await client.follow(new URL(cursor.u, client.baseUrl).href, call, { accept })
      : await client.read(listing.route, { per_page, ...listing.parameters(args) }, call, {
          accept,
        });
    const { url, data, next } = response;
    return { u: `${url.pathname}${url.search}`, url, data, next };
  };
  const loaded = await load();
  const { u, url, data, next } = loaded;
  const items = itemsIn({ data: itemsOf(data), url }) as readonly Item[];
  const rest = items.slice(skip);
  const after = (kept: number): PageCursor => {
    pages.set(u, loaded);
    return { u, k: skip + kept };
  };
  const result = {
    ...((await extra?.(data, args, call)) as object | undefined),
    [name]: rest.map((item) => documented({ data: item, url }, show)),
  };
  const rateLimit = rateLimitOf(kit, resourceOf(listing.route));
  return page(result, { next: cursorTo(next), after, rateLimit }) as never;
}

interface CachedPage {
  readonly u: string;
  readonly url: URL;
  readonly data: unknown;
  readonly next: string | undefined;
}

const resourceOf = (route: string): string =>
  route.includes('/search/code') ? 'code_search' : route.includes('/search/') ? 'search' : 'core';

/** Without the origin, which the configuration determines. */
function cursorTo(link: string | undefined): PageCursor | undefined {
  if (link === undefined || !URL.canParse(link)) return undefined;
  const { pathname, search } = new URL(link);
  return { u: `${pathname}${search}` };
}

/** A warning for a part that failed after the main act succeeded. */
export function warningOf(what: string, cause: unknown): string {
  const failure = describeFailure(cause, faultToError);
  return `${what}: ${failure?.message ?? 'failed for an unknown reason'}`;
}

/** One of several independent changes of an idempotent tool. */
export type Part = readonly [what: string, run: () => Promise<unknown>];

/**
 * Runs all parts. Fails only if none succeeded, with an error that does not claim more than is known;
 * otherwise a failure is a warning.
 */
export async function runParts(parts: readonly Part[]) {
  const failures: { readonly what: string; readonly cause: unknown; readonly isKnown: boolean }[] =
    [];
  for (const [what, run] of parts) {
    try {
      await run();
    } catch (cause) {
      const isKnown =
        cause instanceof FaultError && outcomeOfFault('idempotent', cause.fault) === 'not_executed';
      failures.push({ what, cause, isKnown });
    }
  }
  if (failures.length > 0 && failures.length === parts.length)
    throw (failures.find(({ isKnown }) => !isKnown) ?? failures[0])?.cause;
  return {
    failed: new Set(failures.map(({ what }) => what)),
    warnings: failures.map(({ what, cause, isKnown }) =>
      warningOf(`${what} ${isKnown ? 'was not' : 'may not have been'} changed`, cause),
    ),
  };
}

export const withWarnings = (warnings: readonly string[]) =>
  warnings.length > 0 ? { warnings } : {};

/** What was asked for and is not in the answer: GitHub drops it without an error. */
export function droppedFrom(
  what: string,
  asked: readonly string[] | undefined,
  kept: readonly string[],
): string[] {
  const has = new Set(kept.map((name) => name.toLowerCase()));
  const lost = (asked ?? []).filter((name) => !has.has(name.toLowerCase()));
  return lost.length === 0
    ? []
    : [
        `GitHub ignored these ${what} without an error: ${lost.join(', ')}. Check spelling and access.`,
      ];
}

/** Runs several requests as one act: it is recorded as sending before the first of them. */
export function act<T>(call: CallContext, run: (inner: CallContext) => Promise<T>): Promise<T> {
  const { signal, deadline, correlationId, noteRetry, retryUnsent, progress } = call;
  return call.send((token) =>
    run({
      signal,
      deadline,
      correlationId,
      noteRetry,
      retryUnsent,
      progress,
      send: (write) => write(token),
    }),
  );
}

/** GitHub's clock may differ from the journal's. */
const SKEW_MS = 5 * 60_000;

export const sinceOf = (sentAt: number): string => new Date(sentAt - SKEW_MS).toISOString();

/** `Date` and the times in documents are whole seconds. */
const ROUNDING_MS = 2_000;

/** Whether GitHub's document is not older than the send, by GitHub's clock. */
export function isSince(
  { client }: Kit,
  { headers }: Pick<GitHubResponse, 'headers'>,
  sentAt: number,
  time: string | null | undefined,
): boolean {
  const serverNow = Date.parse(headerOf(headers, 'date') ?? '');
  const skewMs = Number.isNaN(serverNow) ? 0 : serverNow - client.clock.wallNow();
  return Date.parse(time ?? '') >= sentAt + skewMs - ROUNDING_MS;
}

/** GitHub trims titles and messages. */
export const sameText = (one: string, other: string): boolean =>
  one.replaceAll(/\s+/g, ' ').trim() === other.replaceAll(/\s+/g, ' ').trim();

/** The names of what was asked for and is different. What was not asked for is not. */
export const differing = (
  members: Readonly<Record<string, readonly [asked: unknown, has: unknown]>>,
): string[] =>
  Object.keys(members).filter((name) => {
    const [asked, has] = members[name] ?? [];
    if (asked === undefined) return false;
    if (Array.isArray(asked)) return droppedFrom(name, asked, (has ?? []) as string[]).length > 0;
    return typeof asked === 'string'
      ? !sameText(asked, stringOf(has) ?? '')
      : asked !== (has ?? false);
  });

/** The warning of a repeated create that asks for something else than what exists. */
export const unapplied = (what: string, names: readonly string[]): string[] =>
  names.length === 0
    ? []
    : [`The ${what} existed before and was not changed. Not as requested: ${names.join(', ')}.`];

const SECOND_LOOK_MS = 2_000;

/** Looks again after a pause, because a list may show a write late. */
async function lookTwice<T>(
  { client }: Kit,
  call: CallContext,
  look: () => Promise<Reconciliation<T>>,
): Promise<Reconciliation<T>> {
  const first = await look();
  if (first.found !== 'absent' || client.clock.now() + SECOND_LOOK_MS >= call.deadline)
    return first;
  await pause(client.clock, SECOND_LOOK_MS, call.signal);
  return look();
}

/** How to find out whether a write with an unknown outcome was executed. */
export function reconcileBy<Args, Data>(
  kit: Kit,
  isGuarded: boolean,
  find: (
    operation: UnknownOperation<Args>,
    call: CallContext,
  ) => Promise<Data | 'unknown' | undefined>,
): Reconcile<Args, Data> {
  const { reconcile } = kit.config;
  // GitHub refuses to repeat a guarded write, so absence needs no further proof than time.
  const absence = isGuarded
    ? { authoritative: true, actsWithinMs: ACTS_WITHIN_MS }
    : {
        authoritative: reconcile !== undefined,
        actsWithinMs: (reconcile?.authoritativeAfterSecs ?? 0) * 1000,
      };
  return {
    ...absence,
    readBack: (operation, context) => {
      const call = callOf(kit, context);
      return lookTwice(kit, call, async () => {
        const data = await find(operation, call);
        if (data === 'unknown') return { found: 'unknown' };
        return data === undefined ? { found: 'absent' } : { found: 'executed', data };
      });
    },
  };
}

/** GitHub ends a request after 10 seconds. */
const ACTS_WITHIN_MS = 30_000;

export const invalidInput = (field: string, reason: string) =>
  toolError('invalid_input', `${field}: ${reason}`, { details: { field, reason } });

/** An update that names no change is a mistake of the caller, not a success. */
export const refuseUnchanged = (changes: Readonly<Record<string, unknown>>) =>
  Object.values(changes).some((value) => value !== undefined)
    ? undefined
    : invalidInput('arguments', 'name a change, such as title, body or state');
