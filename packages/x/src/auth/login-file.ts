import { randomBytes } from 'node:crypto';
import { constants, readFileSync, readlinkSync, realpathSync, statSync, type Stats } from 'node:fs';
import { access, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import type { Redactor } from '@toolkeel/pack-kit';
import { ConfigError, demandPrivate } from '../secrets.js';

const token = z.string().regex(/^[\x21-\x7e]{1,4096}$/);

/** A person's permission to act, as it is kept between runs. Its file has mode 600. */
const loginSchema = z.strictObject({
  version: z.literal(1),
  /** Stays the same when tokens are renewed, and changes when somebody logs in anew. */
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

/** Undefined if there is none yet. */
export function readLogin(
  path: string,
  secrets?: Pick<Redactor, 'addRotating'>,
): Login | undefined {
  let text: string;
  try {
    demandPrivate(path, statSync(path), 'tokenFile');
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    if (hasCode(cause, 'ENOENT')) return undefined;
    throw cannotRead(path, cause);
  }
  const parsed = loginSchema.safeParse(jsonOf(text));
  // Not the reason: it might quote a token.
  if (!parsed.success) throw new ConfigError(`tokenFile: ${path} is not a login`);
  const { access_token: accessToken, refresh_token: refreshToken } = parsed.data;
  secrets?.addRotating(accessToken);
  if (refreshToken !== undefined) secrets?.addRotating(refreshToken);
  return parsed.data;
}

/** Changes whenever somebody writes a login; undefined if there is none. */
export function stampOfLogin(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && [found.ino, found.mtimeNs, found.ctimeNs, found.size].join(' ');
  } catch (cause) {
    throw cannotRead(path, cause);
  }
}

function cannotRead(path: string, cause: unknown): ConfigError {
  return hasCode(cause, 'ELOOP')
    ? endless(path)
    : new ConfigError(`tokenFile: ${path} cannot be read`, { cause });
}

function endless(path: string): ConfigError {
  return new ConfigError(`tokenFile: ${path} is a link that leads to no file, only to more links`);
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/**
 * Where it really is, or will be: a name that leads to it must go on to do so, and all names have one
 * lock.
 */
export function fileBehind(path: string): string {
  let name = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const folder = realOf(dirname(name));
    // Without its folder there is no link either.
    if (folder === undefined) return name;
    name = join(folder, basename(name));
    const target = targetOf(name);
    if (target === undefined) return name;
    name = resolve(folder, target);
  }
  throw endless(path);
}

function realOf(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

/** Undefined for what is no link, or not there. */
function targetOf(name: string): string | undefined {
  try {
    return readlinkSync(name);
  } catch {
    return undefined;
  }
}

/** A renewed login would be lost: it is needed to keep it, and to keep others from renewing it too. */
export function cannotWrite(path: string, cause?: unknown): ConfigError {
  return new ConfigError(
    `tokenFile: nothing can be written into the folder of ${path}, so the login cannot be kept`,
    { cause },
  );
}

/** Undefined if a login can be kept there. */
export async function writingProblem(path: string): Promise<ConfigError | undefined> {
  try {
    const file = fileBehind(path);
    demandFile(path, statSync(file, { throwIfNoEntry: false }));
    await access(dirname(file), constants.W_OK | constants.X_OK);
    return undefined;
  } catch (cause) {
    return cause instanceof ConfigError ? cause : cannotWrite(path, cause);
  }
}

/** What is put in the place of anything else would be lost, or take something away. */
function demandFile(path: string, found: Stats | undefined): void {
  if (!found || found.isFile()) return;
  const what = found.isDirectory() ? 'a folder' : 'no file';
  throw new ConfigError(`tokenFile: ${path} is ${what}; name a file`);
}

/** Whoever reads it sees the old one or the new one, never half of it. */
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
