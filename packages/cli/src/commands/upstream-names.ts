import { createHash } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';

/** Names that say nothing about a server: programs that run others, and folders of its files. */
const COMMON =
  /^(npx|npm|exec|node|uvx|uv|run|python3?|bunx?|deno|dist|build|src|lib|bin|index|main|server)$/;
const CONTAINERS = /^(docker|podman|nerdctl)$/;
/** Run the package that they name, in any version. */
const PACKAGE_RUNNERS = /^(npx|bunx|uvx)$/;
/** The options of `docker run` without a value. */
const SWITCHES = /^(-[itdP]+|--(interactive|tty|detach|rm|init|privileged|read-only))$/;
const MAX_READABLE = 40;

/**
 * The name of a server that was given without one. It is the account of its operations, so another
 * command is another name: a readable part and a fingerprint of what is run.
 */
export function nameOfCommand(command: string, args: readonly string[], cwd: string): string {
  const launcher = launcherOf(command);
  const at = CONTAINERS.test(launcher)
    ? imageIn(args)
    : args.findIndex((word) => !word.startsWith('-'));
  const isPackage = PACKAGE_RUNNERS.test(launcher);
  const isNamed = isPackage || CONTAINERS.test(launcher);
  const words = args.flatMap((word, index) => {
    if (isPackage && index < at && /^(-y|--yes)$/.test(word)) return [];
    if (isPackage && index === at) return [withoutVersion(word)];
    return [isNamed && index === at ? word : locate(word, cwd)];
  });
  const isLauncher = COMMON.test(launcher) || CONTAINERS.test(launcher);
  const isPath = !isLauncher && /[/\\]/.test(command);
  const program = isLauncher ? launcher : isPath ? resolve(cwd, command) : command;
  const readable = CONTAINERS.test(launcher)
    ? imageName(args[at] ?? launcher)
    : COMMON.test(launcher)
      ? (firstTelling(words) ?? launcher)
      : launcher;
  return named(readable, [program, ...words]);
}

export function nameOfAddress(url: string): string {
  const { hostname, href } = new URL(url);
  return named(hostname, [href]);
}

/**
 * The name that earlier versions gave to the same command. Different servers had the same one; their
 * operations are still recorded under it.
 */
export function formerNameOf(command: string, args: readonly string[]): string {
  return firstTelling([command, ...args]) ?? 'upstream';
}

/** A readable name with a fingerprint of what makes it another one. */
export function named(readable: string, parts: readonly string[]): string {
  const fingerprint = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 8);
  const clean = readable.replaceAll(/[^\w.@-]+/g, '-').slice(0, MAX_READABLE);
  return `${clean}-${fingerprint}`;
}

function firstTelling(words: readonly string[]): string | undefined {
  return words.flatMap((word) => (word.startsWith('-') ? [] : (tellingPart(word) ?? [])))[0];
}

/** The last part of a path that says something. */
function tellingPart(word: string): string | undefined {
  const parts = word.split(/[/\\]/).map(bareName);
  return parts.toReversed().find((part) => !COMMON.test(part));
}

/** Without a version and a file extension. */
function bareName(part: string): string {
  return part.replace(/(?<=.)@[^@]*$/, '').replace(/\.[cm]?[jt]s$|\.py$/, '');
}

/** Where an interpreter or a runner of packages is installed makes no other server. */
function launcherOf(command: string): string {
  const base = command.split(/[/\\]/).at(-1) ?? command;
  return bareName(base.replace(/\.(exe|cmd|bat)$/i, ''));
}

/** The position of the image: the first word after `run` that is neither an option nor its value. */
function imageIn(args: readonly string[]): number {
  let at = args.indexOf('run') + 1;
  while (args[at]?.startsWith('-')) {
    const option = args[at]!;
    at += SWITCHES.test(option) || option.includes('=') ? 1 : 2;
  }
  return at;
}

/** `ghcr.io/owner/name:tag` without all but the name. */
function imageName(image: string): string {
  const last = image.split('/').at(-1) ?? image;
  return last.replace(/[@:].*$/, '');
}

/** An update of a package is the same server: its operations have to be found again. */
function withoutVersion(word: string): string {
  return word.replace(/(?<=.)(@(\d[\w.+-]*|latest)|==\d[\w.+-]*)$/, '');
}

const SCRIPT =
  /\.([cm]?[jt]sx?|py|rb|php|jar|dll|sh|wasm|exe|json|ya?ml|toml|db|sqlite3?|env|txt)$/i;

/** A relative path names another file in another folder. `--option=path` is one too. */
function locate(word: string, cwd: string): string {
  const [, option = '', value = ''] = /^(-[^=]*=)?(.*)$/s.exec(word) ?? [];
  if (value.startsWith('-') || !isRelativePath(value)) return word;
  return option + resolve(cwd, value);
}

function isRelativePath(text: string): boolean {
  if (text === '' || isAbsolute(text) || /^[a-z][\w+.-]*:\/\//i.test(text)) return false;
  return /^\.{1,2}$|[/\\]/.test(text) ? !text.startsWith('@') : SCRIPT.test(text);
}
