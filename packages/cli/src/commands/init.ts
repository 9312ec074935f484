import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Profile } from '@toolkeel/contract';
import { CONFIG_FILE, secretInUrl } from '@toolkeel/host';
import { UsageError } from '../errors.js';
import { choosePacks, cliPack, packNames, parseProfile, type Settings } from '../packs.js';
import { ownVersion, type RuntimeContext } from '../runtime.js';
import { snippetsFor } from '../snippets.js';

/** Writes a configuration file and prints how to connect clients. */
export async function init(flags: InitFlags, runtime: RuntimeContext): Promise<number> {
  const { cwd, stdout, stderr, isInteractive } = runtime;
  const { from } = flags;
  if (from !== undefined) {
    const { adopt } = await import('./adopt.js');
    return adopt({ ...flags, from }, runtime);
  }
  if (flags.undo) throw new UsageError('--undo needs --from: the client to restore.');
  const file = resolve(cwd, flags.config ?? CONFIG_FILE);
  const known = answersFrom(flags);
  if (!flags.yes && !isInteractive) {
    throw new UsageError('Cannot prompt here. Use --yes to accept the defaults and flags.');
  }
  let answers: Answers = known;
  if (flags.yes) {
    if (existsSync(file) && !flags.force) {
      stderr.write(`${file} already exists and was not changed. Use --force to replace it.\n`);
      return 1;
    }
  } else {
    const asked = await ask(known, file, flags.force === true);
    if (!asked) {
      stderr.write('Nothing was written.\n');
      return 1;
    }
    answers = asked;
  }
  const config = configOf(answers, schemaFor(dirname(file)));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`);
  stdout.write(nextSteps(file, answers));
  return 0;
}

/** Undefined if the user cancels. */
async function ask(known: Answers, file: string, force: boolean): Promise<Answers | undefined> {
  const { askAll, askToReplace, Cancelled } = await import('./init-prompts.js');
  try {
    const mayWrite = force || !existsSync(file) || (await askToReplace(file));
    return mayWrite ? await askAll(known) : undefined;
  } catch (cause) {
    if (cause instanceof Cancelled) return undefined;
    throw cause;
  }
}

/** The JSON Schema for editors: of the installed package, else of the published one. */
function schemaFor(dir: string): string {
  const name = 'dist/config.schema.json';
  const installed = resolve(dir, 'node_modules', 'toolkeel', name);
  return existsSync(installed)
    ? `./${relative(dir, installed).replaceAll('\\', '/')}`
    : `https://unpkg.com/toolkeel@${ownVersion()}/${name}`;
}

function nextSteps(file: string, { packs }: Answers): string {
  const logins = packs.filter((name) => cliPack(name).login);
  const snippets = snippetsFor(launchOf(['serve', '--config', file]));
  return [
    `Wrote ${file}.`,
    '',
    'Connect a client:',
    ...snippets.flatMap(({ client, where, text }) => ['', `${client}, ${where}:`, text]),
    '',
    ...logins.map((name) => `Authorize ${name} to act for you: toolkeel login ${name}`),
    'Check the installation: toolkeel doctor',
    '',
  ].join('\n');
}

export interface Answers {
  readonly profile: Profile;
  readonly packs: readonly string[];
  /** Upstream URLs by pack. Default: that of the pack. */
  readonly upstreams: Readonly<Record<string, string>>;
}

export interface InitFlags {
  readonly profile?: string;
  readonly pack?: readonly string[];
  readonly upstream?: readonly string[];
  readonly config?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
  /** A client whose servers are guarded instead. */
  readonly from?: string;
  readonly undo?: boolean;
}

/** The answers from the command line, with defaults. */
export function answersFrom({
  profile = 'readonly',
  pack = [],
  upstream = [],
}: InitFlags): Answers {
  const upstreams = Object.fromEntries(upstream.map(parseUpstream));
  const named = [...pack, ...Object.keys(upstreams)];
  const ready = packNames.filter((name) => cliPack(name).setup.isReady);
  return { profile: parseProfile(profile), packs: choosePacks(named, ready), upstreams };
}

/** `stac=https://…` */
function parseUpstream(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1)
    throw new UsageError(
      `"${text}" is not PACK=URL. Use for example stac=https://stac.example.com`,
    );
  const [pack, url] = [text.slice(0, at), text.slice(at + 1)];
  const problem = urlProblem(url);
  if (problem !== undefined) throw new UsageError(`--upstream ${pack}: ${problem}`);
  return [pack, url];
}

/** Why a URL is refused; undefined if it is accepted. */
export function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return `"${text}" is not a URL. It must begin with https:// or http://`;
  const { protocol } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') {
    return `it begins with ${protocol}//, but must begin with https:// or http://`;
  }
  const found = secretInUrl(text);
  return found
    ? `it contains ${found.what}. Remove it, and name an environment variable under "headers" in the file`
    : undefined;
}

export function configOf({ profile, packs, upstreams }: Answers, schema: string): Settings {
  const settings = packs.map((name) => {
    const url = upstreams[name];
    return [name, url === undefined ? {} : cliPack(name).setup.settings(url)] as const;
  });
  return { $schema: schema, profile, packs: Object.fromEntries(settings) };
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

export const ownScript = fileURLToPath(new URL('../bin.js', import.meta.url));

/**
 * The command with which a client starts the server. npx removes its cache at some time, so there the
 * command is npx again; otherwise it is an absolute path, because desktop clients have their own PATH.
 */
export function launchOf(
  args: readonly string[],
  { script = ownScript, node = process.execPath, platform = process.platform } = {},
): Launch {
  if (!script.includes(`${sep}_npx${sep}`)) return { command: node, args: [script, ...args] };
  const npx = ['-y', 'toolkeel', ...args];
  return platform === 'win32'
    ? { command: 'cmd', args: ['/c', 'npx', ...npx] }
    : { command: 'npx', args: npx };
}
