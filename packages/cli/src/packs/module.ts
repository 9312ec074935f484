import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants, Script } from 'node:vm';
import type { Pack } from '@toolkeel/contract';
import {
  ConfigError,
  environmentSecrets,
  guardStdout,
  Secrets,
  specProblem,
  type ConfigIssue,
  type Environment,
} from '@toolkeel/host';
import { UsageError } from '../errors.js';
import type { CliPack } from './pack.js';

/** A module that the operator named: in the configuration file, or with --pack. */
export interface NamedModule {
  /** A path that begins with `./`, `../` or `/`, or the name of a package. */
  readonly module: string;
  /** The directory that it is resolved from. */
  readonly from: string;
  /** Where the operator named it, for messages. */
  readonly origin: Pick<ConfigIssue, 'origin' | 'pointer'>;
}

interface ModuleContext {
  readonly env: Environment;
  /** Receives what the module prints: stdout belongs to the command. */
  readonly printed: (text: string) => void;
}

/** A pack of a module. The module is loaded on first use. */
export function modulePack(load: () => Promise<Pack>): CliPack {
  let loading: Promise<Pack> | undefined;
  const loadOnce = (): Promise<Pack> => (loading ??= load());
  return {
    load: async () => ({ pack: await loadOnce(), isModule: true }),
    sandbox: {
      start: async () => {
        const pack = await loadOnce();
        if (!pack.sandbox) {
          throw new UsageError(
            `The pack ${pack.name} has no sandbox, and --sandbox must not use a real upstream. ` +
              'Name the packs to serve, or start without --sandbox.',
          );
        }
        const { settings, addresses = {}, close } = await pack.sandbox();
        return { settings, addresses, environment: {}, close };
      },
    },
  };
}

let previous: Promise<unknown> = Promise.resolve();

/** Loads the pack of a module. Throws a ConfigError that names the module and the reason. */
export async function loadPackModule(named: NamedModule, context: ModuleContext): Promise<Pack> {
  // One after the other: each diverts stdout for as long as it runs.
  const loading = previous.then(() => importPack(named, context));
  previous = loading.catch(() => undefined);
  return loading;
}

async function importPack(named: NamedModule, { env, printed }: ModuleContext): Promise<Pack> {
  const guard = guardStdout(process.stdout, printed);
  try {
    const found = packIn(await importFrom(named));
    if (typeof found !== 'string') return found;
    throw refusal(named, found);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    const { scrub } = environmentSecrets(env, new Secrets());
    // Node.js names this file as the importer of a module that does not exist.
    const message = cause instanceof Error ? cause.message : String(cause);
    const reason = scrub(message.replace(/ imported from .*[\\/]packs[\\/]module\.[jt]s$/, ''));
    const line = cause instanceof SyntaxError ? syntaxErrorLine(named) : '';
    throw refusal(named, `cannot be loaded: ${reason}${line}${pathHint(named)}`);
  } finally {
    guard.release();
  }
}

const isPath = (module: string): boolean => /^\.\.?[\\/]/.test(module) || isAbsolute(module);

function importFrom({ module, from }: NamedModule): Promise<object> {
  if (!isPath(module)) return importPackage(module, from);
  return import(pathToFileURL(resolve(from, module)).href) as Promise<object>;
}

/** Resolves the package as an `import()` in that directory would: Node.js has no other API for it. */
function importPackage(name: string, from: string): Promise<object> {
  const script = new Script('(name) => import(name)', {
    filename: join(from, 'toolkeel.config.json'),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const load = script.runInThisContext() as (specifier: string) => Promise<object>;
  // Node.js announces that the option is experimental, on the stderr of a log in JSON.
  // Reflect.get: the same function must be restored, not a bound copy.
  const emitWarning = Reflect.get(process, 'emitWarning');
  process.emitWarning = () => {};
  try {
    return load(name);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** An import does not tell the line of a syntax error; a check of the file does. */
function syntaxErrorLine({ module, from }: NamedModule): string {
  if (!isPath(module)) return '';
  const args = ['--check', resolve(from, module)];
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 10_000 });
  const [, line] = /^.*:(\d+)\n/.exec(stderr) ?? [];
  return line === undefined ? '' : ` (line ${line})`;
}

function pathHint({ module, from }: NamedModule): string {
  const isFile = !isPath(module) && existsSync(resolve(from, module));
  return isFile ? ` Did you mean "./${module}"?` : '';
}

export function refusal({ module, origin }: NamedModule, reason: string): ConfigError {
  return new ConfigError([{ ...origin, message: `the module ${module} ${reason}` }]);
}

const NAME = /^[a-z][a-z\d_-]{0,31}$/;

/** The pack that a module exports, or why it has none. Its classes may be of another copy than ours. */
function packIn(exported: object): Pack | string {
  const { default: standard, pack = standard } = exported as { default?: unknown; pack?: unknown };
  if (typeof pack !== 'object' || pack === null) {
    return 'exports no pack: export it as default, or under the name "pack".';
  }
  const { name, configSchema, describe, create, sandbox } = pack as Partial<Pack>;
  if (typeof name !== 'string' || !NAME.test(name)) {
    return `exports no pack: its name must match ${NAME.source}.`;
  }
  if (typeof configSchema?.safeParse !== 'function' || typeof configSchema._zod !== 'object') {
    return 'exports no pack: its configSchema must be a schema of zod 4.';
  }
  if (typeof describe !== 'function' || typeof create !== 'function') {
    return 'exports no pack: describe and create must be functions.';
  }
  if (sandbox !== undefined && typeof sandbox !== 'function') {
    return 'exports no pack: sandbox must be a function.';
  }
  const specs: unknown = (pack as Pack).describe();
  if (!Array.isArray(specs) || specs.length === 0) return 'exports a pack that describes no tools.';
  const problem = specs.map(specProblem).find((found) => found !== undefined);
  return problem === undefined ? (pack as Pack) : `exports no valid pack: ${problem}.`;
}
