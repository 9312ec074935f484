import { generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import type { Clock } from '../server/clock.js';
import { hash } from '../random.js';
import { isObject } from '../json.js';
import { notFound, problem, type GithubProblem } from './problems.js';
import type { Account } from './world.js';

export type Access = 'read' | 'write';
type Permissions = Readonly<Record<string, Access>>;

/** Who sent a request. */
export interface Caller {
  readonly kind: 'user' | 'installation' | 'app';
  readonly account: Account;
  /** Undefined: everything that the user may do. */
  readonly permissions?: Permissions;
  /** Undefined: all repositories. */
  readonly repositories?: readonly string[];
  /** Part of every ETag. */
  readonly token: string;
  /** Classic tokens state their scopes. */
  readonly scopes?: string;
}

interface Issued extends Caller {
  readonly expiresAt?: number;
  readonly installation?: number;
}

export interface TokenOptions {
  readonly login?: string;
  readonly permissions?: Permissions;
  /** Of a classic token, as GitHub lists them. */
  readonly scopes?: string;
  readonly lifetimeMs?: number;
}

export interface AppCredentials {
  readonly appId: number;
  readonly installationId: number;
  /** PEM, PKCS#1 as GitHub issues it. */
  readonly privateKey: string;
  /** The same key as PKCS#8. */
  readonly privateKeyPkcs8: string;
}

export type Auth = ReturnType<typeof createAuth>;

/** `app`: a JWT; `token`: any token; `any`: anonymous is allowed. */
export type AuthKind = 'app' | 'token' | 'any';

interface AuthOptions {
  readonly seed: number;
  readonly bot: Account;
  readonly users: ReadonlyMap<string, Account>;
  readonly installationLifetimeMs: number;
  readonly installationId: number;
}

const APP_PERMISSIONS: Permissions = {
  actions: 'write',
  checks: 'write',
  contents: 'write',
  issues: 'write',
  metadata: 'read',
  pull_requests: 'write',
};

const ALL_SCOPES = 'notifications, repo, workflow';

const badCredentials = (): GithubProblem => problem(401, 'Bad credentials');

export function createAuth(clock: Clock, options: AuthOptions) {
  const { seed, bot, users, installationLifetimeMs, installationId } = options;
  const tokens = new Map<string, Issued>();
  const appId = 100_000 + (seed % 1000);
  let keys: { readonly credentials: AppCredentials; readonly publicKey: KeyObject } | undefined;
  let issued = 0;
  const create = (prefix: string, given: Omit<Issued, 'token'>): string => {
    issued += 1;
    const text = [1, 2, 3, 4, 5].map((part) => hash('token', seed, issued, part).toString(36));
    const token = prefix + text.join('').padEnd(36, '0').slice(0, 36);
    tokens.set(token, { ...given, token });
    return token;
  };
  const loadKeys = () => {
    if (keys) return keys;
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = (type: 'pkcs1' | 'pkcs8'): string =>
      privateKey.export({ type, format: 'pem' }).toString();
    const credentials = {
      appId,
      installationId,
      privateKey: pem('pkcs1'),
      privateKeyPkcs8: pem('pkcs8'),
    };
    keys = { credentials, publicKey };
    return keys;
  };
  const appCaller = (jwt: string): Caller => {
    const claims = keys && claimsOf(jwt, keys.publicKey);
    if (!claims || String(claims['iss']) !== String(appId))
      throw problem(401, 'A JSON web token could not be decoded');
    const now = Math.floor(clock.now() / 1000);
    const [iat, exp] = [Number(claims['iat']), Number(claims['exp'])];
    if (!(iat <= now))
      throw problem(
        401,
        "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
      );
    if (!(exp > now))
      throw problem(
        401,
        "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
      );
    if (exp > now + 600)
      throw problem(401, "'Expiration time' claim ('exp') is too far in the future");
    return { kind: 'app', account: bot, token: jwt };
  };
  return {
    issue: (
      account: Account,
      { permissions, scopes = ALL_SCOPES, lifetimeMs }: TokenOptions = {},
    ): string =>
      create(permissions ? 'github_pat_' : 'ghp_', {
        kind: 'user',
        account,
        ...(permissions ? { permissions } : { scopes }),
        ...(lifetimeMs !== undefined && { expiresAt: clock.now() + lifetimeMs }),
      }),
    revoke: (token: string): boolean => tokens.delete(token),
    /** Creates the key pair on first use. */
    app: (): AppCredentials => loadKeys().credentials,
    /** Throws a 401 as GitHub answers it. */
    authenticate: (request: Request, auth: AuthKind): Caller => {
      const [scheme = '', value = ''] = (request.headers.get('authorization') ?? '').split(' ');
      if (value === '' && auth === 'any')
        return {
          kind: 'user',
          account: { id: 0, login: '', type: 'User' },
          permissions: { metadata: 'read' },
          token: '',
        };
      if (!['bearer', 'token'].includes(scheme.toLowerCase()))
        throw problem(401, 'Requires authentication');
      if (auth === 'app') return appCaller(value);
      const known = tokens.get(value);
      if (!known) throw badCredentials();
      if (known.expiresAt !== undefined && known.expiresAt <= clock.now()) throw badCredentials();
      return users.has(known.account.login.toLowerCase()) ? known : { ...known, account: bot };
    },
    mint: (
      installation: number,
      {
        permissions = APP_PERMISSIONS,
        repositories,
      }: { permissions?: Permissions; repositories?: readonly string[] },
    ) => {
      if (installation !== installationId) throw notFound();
      const refused = Object.entries(permissions).find(
        ([name, access]) =>
          !(APP_PERMISSIONS[name] === 'write' || APP_PERMISSIONS[name] === access),
      );
      if (refused)
        throw problem(422, 'The permissions requested are not granted to this installation.');
      const expiresAt = clock.now() + installationLifetimeMs;
      const token = create('ghs_', {
        kind: 'installation',
        account: bot,
        permissions,
        expiresAt,
        installation,
        ...(repositories && { repositories }),
      });
      return { token, expiresAt, permissions };
    },
  };
}

/** The claims of a JWT that the key signed with RS256. */
function claimsOf(jwt: string, key: KeyObject): Readonly<Record<string, unknown>> | undefined {
  const [head = '', payload = '', signature = ''] = jwt.split('.');
  const bytes = Buffer.from(`${head}.${payload}`);
  try {
    if (!verify('RSA-SHA256', bytes, key, Buffer.from(signature, 'base64url'))) return undefined;
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}
