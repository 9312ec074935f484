import { randomBytes } from 'node:crypto';
import { constants, readFileSync, readlinkSync, realpathSync, statSync, type Stats } from 'node:fs';
import { access, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ConfigError, requirePrivateFile, type Redactor } from '@toolkeel/pack-kit/base';
import * as z from 'zod';

const token = z.string().regex(/^[\x21-\x7e]{1,4096}$/);

/** The content of the login file, which has mode 600. */
const loginSchema = z.strictObject({
  version: z.literal(1),
  /** Unchanged by renewals; a new login has a new id. */
  login_id: z.string().min(1),
  client_id: z.string().min(1),
  access_token: token,
  refresh_token: token.optional(),
  /** Milliseconds since 1970. */
  obtained_at: z.number(),
  expires_at: z.number(),
  scopes: z.array(z.string()),
  user: z.strictObject({ id: z.string(), username: z.string() }).optional(),
});

export type Login = Readonly<z.output<typeof loginSchema>>;

/** Undefined if the file does not exist. */
export function readLogin(
  path: string,
  secrets?: Pick<Redactor, 'addRotating'>,
): Login | undefined {
  let text: string;
  try {
    requirePrivateFile(path, statSync(path), 'tokenFile');
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    if (hasCode(cause, 'ENOENT')) return undefined;
    throw cannotRead(path, cause);
  }
  const parsed = loginSchema.safeParse(jsonOf(text));
  // Without the reason, which could quote a token.
  if (!parsed.success) throw new ConfigError(`tokenFile: ${path} is not a valid login`);
  const { access_token: accessToken, refresh_token: refreshToken } = parsed.data;
  secrets?.addRotating(accessToken);
  if (refreshToken !== undefined) secrets?.addRotating(refreshToken);
  return parsed.data;
}

/** The state of a login, without a request to X. */
export interface LoginState {
  readonly username: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Whether it has a refresh token. */
  readonly isRenewable: boolean;
}

/** Undefined if the file does not exist. Throws a `ConfigError` if it is unusable. */
export async function lookAtLogin(path: string): Promise<LoginState | undefined> {
  const login = readLogin(path);
  return (
    login && {
      username: login.user?.username,
      expiresAt: login.expires_at,
      isRenewable: login.refresh_token !== undefined,
    }
  );
}

/** Changes with every write; undefined if the file does not exist. */
export function loginFileVersion(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && [found.ino, found.mtimeNs, found.ctimeNs, found.size].join(' ');
  } catch (cause) {
    throw cannotRead(path, cause);
  }
}

function cannotRead(path: string, cause: unknown): ConfigError {
  return hasCode(cause, 'ELOOP')
    ? linkLoop(path)
    : new ConfigError(`tokenFile: ${path} cannot be read`, { cause });
}

function linkLoop(path: string): ConfigError {
  return new ConfigError(`tokenFile: ${path} is a symbolic link loop`);
}

/** The limit of Linux. */
const MAX_LINKS = 40;

/** Resolves symbolic links, so that a write keeps them and all names of the file share one lock. */
export function resolveLoginPath(path: string): string {
  let name = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const folder = realFolder(dirname(name));
    // The folder does not exist, so the file is no link.
    if (folder === undefined) return name;
    name = join(folder, basename(name));
    const target = linkTarget(name);
    if (target === undefined) return name;
    name = resolve(folder, target);
  }
  throw linkLoop(path);
}

function realFolder(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

/** Undefined if it is no link or does not exist. */
function linkTarget(name: string): string | undefined {
  try {
    return readlinkSync(name);
  } catch {
    return undefined;
  }
}

/** The folder must be writable to save a renewed login and to lock it. */
export function notWritable(path: string, cause?: unknown): ConfigError {
  return new ConfigError(
    `tokenFile: the folder of ${path} is not writable, so the login cannot be saved`,
    { cause },
  );
}

/** Undefined if a login can be saved there. */
export async function checkWritable(path: string): Promise<ConfigError | undefined> {
  try {
    const file = resolveLoginPath(path);
    requireRegularFile(path, statSync(file, { throwIfNoEntry: false }));
    await access(dirname(file), constants.W_OK | constants.X_OK);
    return undefined;
  } catch (cause) {
    return cause instanceof ConfigError ? cause : notWritable(path, cause);
  }
}

/** Replacing a folder or device would fail or destroy it. */
function requireRegularFile(path: string, found: Stats | undefined): void {
  if (!found || found.isFile()) return;
  const kind = found.isDirectory() ? 'a folder' : 'not a regular file';
  throw new ConfigError(`tokenFile: ${path} is ${kind}; specify a file`);
}

/** Replaces the file atomically. */
export async function writeLogin(path: string, login: Login): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(login, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw cause;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function hasCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code;
}
