import type { Exchange } from '../../server/upstream.js';
import type { JsonObject } from '../../json.js';
import type { Caller, Tokens } from '../auth/tokens.js';
import type { CommitLog } from '../../server/commit-log.js';
import type { Act } from '../commits.js';
import type { Account, Charge, Windows } from '../limits.js';
import type { Uploads } from '../uploads.js';
import { userAccess, type View } from '../present/view.js';
import { invalid, missing, type AccountNames } from '../problems.js';
import type { World } from '../world/world.js';
import type { createDuplicateWindow } from './create-post.js';
import type { Post } from '../world/records.js';

/** The app's access tier. */
export type Tier = 'self_serve' | 'enterprise';

/** The state that all handlers share. */
export interface XState {
  readonly world: World;
  readonly commits: CommitLog<Act>;
  readonly tokens: Tokens;
  readonly windows: Windows;
  readonly account: Account;
  readonly uploads: Uploads;
  readonly duplicates: ReturnType<typeof createDuplicateWindow>;
  readonly names: AccountNames;
  readonly tier: () => Tier;
  readonly maxPostLength: number;
}

/** An authenticated and authorized request. */
export interface Call extends XState {
  readonly route: string;
  readonly caller: Caller;
  readonly param: (name: string) => string;
  readonly query: URLSearchParams;
  readonly request: Request;
  readonly form: () => Promise<FormData>;
  readonly exchange: Exchange;
}

export interface Reply {
  readonly status?: number;
  readonly body: JsonObject;
  readonly charges?: readonly (readonly [charge: Charge, times: number])[];
}

export type Handler = (call: Call) => Reply | Promise<Reply>;

export function viewOf({ world, caller }: Call): View {
  return { world, viewerId: caller.kind === 'user' ? caller.userId : undefined };
}

/** The authenticated user. Routes that need one have rejected apps already. */
export function userOf({ caller }: Call): string {
  return caller.kind === 'user' ? caller.userId : '';
}

/** The user id in the path, which must be the authenticated user's. */
export function ownId(call: Call): string {
  const [named, own] = [call.param('id'), userOf(call)];
  if (named !== own)
    throw invalid(
      `The \`id\` query parameter value [${named}] must be the same as the authenticating user [${own}]`,
      { id: [named] },
    );
  return own;
}

export function commit({ commits, world, exchange, caller }: Call, act: Act): void {
  const account = caller.kind === 'user' ? caller.userId : caller.clientId;
  commits.append(act, { at: world.clock.now(), request: exchange.request, account });
}

/** Finds a post for a write, which sees committed state regardless of the read lag. */
export function targetPost(call: Call, id: string): Post | undefined {
  const post = call.world.posts.get(id);
  if (!post || post.deleted) return undefined;
  const author = call.world.users.get(post.authorId);
  return userAccess(viewOf(call), author) === 'visible' ? post : undefined;
}

export function visiblePost(call: Call, id: string, parameter = 'tweet_id'): Post {
  const post = targetPost(call, id);
  if (!post) throw missing('tweet', parameter, id);
  return post;
}
