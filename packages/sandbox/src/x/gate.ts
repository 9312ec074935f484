import { refusalFaults } from '../chaos/kinds.js';
import type { Seat } from '../front/upstream.js';
import type { Tier } from './api/call.js';
import type { Caller, Tokens } from './auth/tokens.js';
import type { Account } from './limits/account.js';
import { spentHeaders, type Windows } from './limits/windows.js';
import { forbidden, unauthorized, XProblem } from './problem/problem.js';
import { refusal, unsupportedAuthentication, type Names } from './problem/refusals.js';
import type { ApiRoute, Entry } from './routes.js';

export interface Gatekeeper {
  readonly tokens: Tokens;
  readonly windows: Windows;
  readonly account: Account;
  readonly names: Names;
  readonly tier: () => Tier;
  readonly now: () => number;
}

const supported: Readonly<Record<Entry, readonly string[]>> = {
  any: ['OAuth 1.0a User Context', 'OAuth 2.0 Application-Only', 'OAuth 2.0 User Context'],
  user: ['OAuth 1.0a User Context', 'OAuth 2.0 User Context'],
  oauth2: ['OAuth 2.0 User Context'],
  app: ['OAuth 2.0 Application-Only'],
};

/** Who it is. A token that is unknown or too old is as good as none. */
export function identify({ tokens }: Gatekeeper, request: Request, { entry }: ApiRoute): Caller {
  const [scheme, token = ''] = (request.headers.get('authorization') ?? '').split(' ');
  const caller = scheme?.toLowerCase() === 'bearer' ? tokens.callerOf(token) : undefined;
  if (!caller) throw unauthorized();
  const isWrong = caller.kind === 'app' ? entry === 'user' || entry === 'oauth2' : entry === 'app';
  if (isWrong) {
    const used = caller.kind === 'app' ? 'OAuth 2.0 Application-Only' : 'OAuth 2.0 User Context';
    throw new XProblem(403, unsupportedAuthentication(used, supported[entry]));
  }
  return caller;
}

/** Counts the request. The answer's headers are known from here on, also if it is a refusal. */
export function count(
  { windows }: Gatekeeper,
  route: ApiRoute,
  caller: Caller,
): ReturnType<Windows['take']> {
  const who = { app: caller.clientId, ...(caller.kind === 'user' && { user: caller.userId }) };
  return windows.take(route.name, who);
}

/** Whatever stands between somebody who is known and what they ask for. */
export function admit(keeper: Gatekeeper, route: ApiRoute, caller: Caller, seat: Seat): void {
  const { names, account, tier } = keeper;
  refuseOnCommand(keeper, seat);
  const lacking =
    caller.kind === 'user' && route.scopes.some((one) => !caller.scopes.includes(one));
  if (lacking) throw forbidden('Forbidden');
  if (route.enterprise && tier() !== 'enterprise')
    throw refusal('x-403-client-not-enrolled', names);
  if (account.credits() <= 0) throw refusal('x-402-credits', names);
  if (route.method === 'GET' && account.isCapped()) throw refusal('x-429-usage-cap', names);
}

const QUARTER_HOUR = 15 * 60;
const DAY = 24 * 60 * 60;

function refuseOnCommand({ names, now }: Gatekeeper, seat: Seat): void {
  const kind = refusalFaults.find((one) => seat.drawn(one));
  const fault = kind && seat.commit(kind);
  if (!kind || !fault) return;
  const told =
    fault.retryAfter && 'seconds' in fault.retryAfter ? fault.retryAfter.seconds : undefined;
  const resetIn = (usual: number): number => now() + (told ?? usual) * 1000;
  const headers =
    kind === 'x-429-day'
      ? spentHeaders('day', resetIn(DAY))
      : kind === 'x-429-window' || kind === 'x-429-legacy'
        ? spentHeaders('window', resetIn(QUARTER_HOUR))
        : {};
  throw refusal(kind, names, headers);
}
