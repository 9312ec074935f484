import { didYouMean, loadConfig } from '@toolkeel/host';
import { choosePacks, cliPack, packNames } from '../packs.js';
import { escapeControls } from '../operator/format.js';
import type { RuntimeContext } from '../runtime.js';
import { UsageError } from '../errors.js';

export interface LoginFlags {
  readonly clientId?: string;
  readonly scopes?: string;
  readonly port?: number;
  readonly timeout?: string;
  readonly config?: string;
}

/** Lets a person allow a pack to act. Prints the address to open, and nothing that is secret. */
export async function login(
  named: string,
  flags: LoginFlags,
  { env, cwd, stdout, stderr }: RuntimeContext,
  stopped: () => Promise<void>,
): Promise<number> {
  const { logIn, load, name } = lineWithLogin(named);
  const { clientId, port } = flags;
  const more = {
    ...(clientId !== undefined && { clientId: appIn(clientId) }),
    ...(port !== undefined && { port }),
    ...(flags.scopes !== undefined && { scopes: scopesIn(flags.scopes) }),
    ...(flags.timeout !== undefined && { timeoutMs: millisecondsIn(flags.timeout) }),
  };
  const loaded = loadConfig({
    env,
    cwd,
    ...(flags.config !== undefined && { file: flags.config }),
    packs: [await load()],
    otherPacks: packNames.filter((one) => one !== name),
    only: ['dataDir', 'packs', 'profile'],
    withoutApproval: true,
  });
  const leaving = new AbortController();
  void stopped().then(() => leaving.abort());
  try {
    const {
      name: who,
      file,
      unused,
    } = await logIn({
      settings: loaded.packEntry(name).config,
      dataDir: loaded.dataDir,
      env,
      ...more,
      signal: leaving.signal,
      onUrl: (url) => stdout.write(`Open this in a browser, and allow it:\n\n  ${url}\n\n`),
      onStranger: () =>
        stderr.write('A browser came back from another login than this one. Still waiting.\n'),
    });
    const as = who === undefined ? '' : ` as ${escapeControls(who)}`;
    stdout.write(`Logged in${as}. The login is kept in ${file}, for you alone.\n`);
    if (unused !== undefined) stderr.write(`It is not used yet: ${unused}\n`);
    const config = flags.config === undefined ? '' : ` --config ${flags.config}`;
    // Beside an override from the environment `serve` needs the profile that asks for approval.
    const profile = loaded.approvalOverride ? 'workflow' : loaded.config.profile;
    stdout.write(`Now${asHere(name, env)}: toolkeel serve ${name} --profile ${profile}${config}\n`);
    if (profile === 'readonly') {
      stdout.write(
        'The profile readonly only reads. With --profile workflow it acts once you approve.\n',
      );
    }
    return 0;
  } catch (cause) {
    if (!leaving.signal.aborted) throw cause;
    stderr.write('Nobody was logged in.\n');
    return 1;
  }
}

/** What was set for this command alone would be missing from the next one. Names only: values may be secret. */
function asHere(name: string, env: RuntimeContext['env']): string {
  const ours = new RegExp(`^TOOLKEEL_(?:CONFIG|DATA_DIR|${name.toUpperCase()}_\\w+)$`);
  const set = Object.keys(env).filter((key) => ours.test(key) && env[key] !== '');
  return set.length === 0 ? '' : `, with ${set.toSorted().join(', ')} set as here`;
}

function lineWithLogin(named: string) {
  const [name = ''] = choosePacks([named]);
  const { login: logIn, load } = cliPack(name);
  if (logIn) return { name, logIn, load };
  const others = packNames.filter((one) => cliPack(one).login);
  throw new UsageError(
    `${name} needs no login.${didYouMean(named, others)} With one: ${others.join(', ')}.`,
  );
}

function appIn(text: string): string {
  if (text.trim() !== '') return text;
  throw new UsageError('--client-id must be the id of your app, and is empty');
}

function scopesIn(text: string): readonly string[] {
  const scopes = text.split(/[\s,]+/).filter(Boolean);
  const wrong = scopes.find((scope) => !/^[\w.]+$/.test(scope));
  if (scopes.length > 0 && wrong === undefined) return scopes;
  throw new UsageError('--scopes must be names with commas between, such as tweet.read,users.read');
}

const LONGEST_SECS = 3600;

function millisecondsIn(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds > 0 && seconds <= LONGEST_SECS) return seconds * 1000;
  throw new UsageError(`--timeout must be a number of seconds up to ${LONGEST_SECS}`);
}
