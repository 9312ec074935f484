import { didYouMean, loadConfig } from '@toolkeel/host';
import { UsageError } from '../errors.js';
import { escapeControls } from '../operator/format.js';
import { openCatalog, type PackCatalog } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';

export interface LoginFlags {
  readonly clientId?: string;
  readonly scopes?: string;
  readonly port?: number;
  readonly timeout?: string;
  readonly config?: string;
}

/** Authorizes a pack. Prints the URL to open, and no secret. */
export async function login(
  named: string,
  flags: LoginFlags,
  runtime: RuntimeContext,
  stopped: () => Promise<void>,
): Promise<number> {
  const { env, cwd, stdout, stderr } = runtime;
  const catalog = await openCatalog(flags, runtime);
  const { logIn, load, name } = packWithLogin(named, catalog);
  const { clientId, port } = flags;
  const more = {
    ...(clientId !== undefined && { clientId: parseClientId(clientId) }),
    ...(port !== undefined && { port }),
    ...(flags.scopes !== undefined && { scopes: parseScopes(flags.scopes) }),
    ...(flags.timeout !== undefined && { timeoutMs: parseTimeout(flags.timeout) }),
  };
  const loaded = loadConfig({
    env,
    cwd,
    ...(flags.config !== undefined && { file: flags.config }),
    packs: [await load()],
    otherPacks: catalog.names.filter((other) => other !== name),
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
      onUrl: (url) =>
        stdout.write(`Open this URL in a browser and authorize the app:\n\n  ${url}\n\n`),
      onStranger: () => stderr.write('Ignored a redirect of another login. Still waiting.\n'),
    });
    const as = who === undefined ? '' : ` as ${escapeControls(who)}`;
    stdout.write(`Logged in${as}. The login is stored in ${file}, readable only by you.\n`);
    if (unused !== undefined) stderr.write(`The login is not used: ${unused}\n`);
    const config = flags.config === undefined ? '' : ` --config ${flags.config}`;
    // With an override from the environment, `serve` needs the profile that requires approval.
    const profile = loaded.approvalOverride ? 'workflow' : loaded.config.profile;
    stdout.write(
      `Next${sameVariables(name, env)}: toolkeel serve ${name} --profile ${profile}${config}\n`,
    );
    if (profile === 'readonly') {
      stdout.write(
        'The profile readonly has no mutations. With --profile workflow, mutations run after your approval.\n',
      );
    }
    return 0;
  } catch (cause) {
    if (!leaving.signal.aborted) throw cause;
    stderr.write('Login cancelled.\n');
    return 1;
  }
}

/** Variables that the next command needs as well. Names only, because values may be secret. */
function sameVariables(name: string, env: RuntimeContext['env']): string {
  const ours = new RegExp(`^TOOLKEEL_(?:CONFIG|DATA_DIR|${name.toUpperCase()}_\\w+)$`);
  const set = Object.keys(env).filter((key) => ours.test(key) && env[key] !== '');
  return set.length === 0 ? '' : `, with the same ${set.toSorted().join(', ')}`;
}

function packWithLogin(named: string, { names, get, choose }: PackCatalog) {
  const [name = ''] = choose([named]);
  const { login: logIn, load } = get(name);
  if (logIn) return { name, logIn, load };
  const others = names.filter((other) => get(other).login);
  throw new UsageError(
    `${name} requires no login.${didYouMean(named, others)} Packs with a login: ${others.join(', ')}.`,
  );
}

function parseClientId(text: string): string {
  if (text.trim() !== '') return text;
  throw new UsageError('--client-id is empty. Use the client id of your app.');
}

function parseScopes(text: string): readonly string[] {
  const scopes = text.split(/[\s,]+/).filter(Boolean);
  const wrong = scopes.find((scope) => !/^[\w.]+$/.test(scope));
  if (scopes.length > 0 && wrong === undefined) return scopes;
  throw new UsageError('--scopes must be names separated by commas, such as tweet.read,users.read');
}

const MAX_TIMEOUT_SECS = 3600;

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds > 0 && seconds <= MAX_TIMEOUT_SECS) return seconds * 1000;
  throw new UsageError(`--timeout must be a number of seconds up to ${MAX_TIMEOUT_SECS}`);
}
