import type { PackBinding } from './load.js';

export type JsonObject = Readonly<Record<string, unknown>>;
export type Path = readonly PropertyKey[];
export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings, and the source of each: a file, a variable or a flag. */
export interface Layer {
  readonly values: JsonObject;
  readonly originOf: (path: Path) => string;
}

/** Merges layers in ascending precedence. Objects are merged; arrays and scalars are replaced. */
export function mergeLayers(layers: readonly Layer[]): Layer {
  const origins = new Map<string, string>();
  let values: JsonObject = {};
  for (const layer of layers) {
    values = merge(values, layer.values, [], (path) => {
      origins.set(pointerOf(path), layer.originOf(path));
    });
  }
  const fallback = layers[0]?.originOf([]) ?? 'the configuration';
  return {
    values,
    originOf: (path) => {
      for (let length = path.length; length > 0; length--) {
        const origin = origins.get(pointerOf(path.slice(0, length)));
        if (origin !== undefined) return origin;
      }
      return fallback;
    },
  };
}

function merge(
  lower: JsonObject,
  upper: JsonObject,
  path: Path,
  setOrigin: (path: Path) => void,
): JsonObject {
  const merged: Record<string, unknown> = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    if (value === undefined) continue;
    const at = [...path, key];
    const below = lower[key];
    setOrigin(at);
    merged[key] =
      isObject(value) && !isSource(value)
        ? merge(isObject(below) && !isSource(below) ? below : {}, value, at, setOrigin)
        : value;
  }
  return merged;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The source of a secret is replaced as a whole: a mix of two sources is invalid. */
function isSource(value: JsonObject): boolean {
  return typeof value['env'] === 'string' || typeof value['file'] === 'string';
}

/** Formats a path as a JSON pointer (RFC 6901). */
export function pointerOf(path: Path): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

interface Variable {
  readonly name: string;
  readonly path: readonly string[];
  readonly read: (value: string, name: string) => unknown;
}

const asString = (value: string): string => value;
// Invalid numbers stay strings, so that the schema rejects them with the name of the variable.
const asNumber = (value: string): unknown => (Number.isNaN(Number(value)) ? value : Number(value));
const asSource = (_value: string, name: string): unknown => ({ env: name });

const VARIABLES: readonly Variable[] = [
  { name: 'TOOLKEEL_PROFILE', path: ['profile'], read: asString },
  { name: 'TOOLKEEL_LOG_LEVEL', path: ['log', 'level'], read: asString },
  { name: 'TOOLKEEL_DATA_DIR', path: ['dataDir'], read: asString },
  { name: 'TOOLKEEL_TOOL_TIMEOUT_SECS', path: ['toolTimeoutSecs'], read: asNumber },
  { name: 'TOOLKEEL_BYTE_BUDGET', path: ['byteBudget'], read: asNumber },
  { name: 'TOOLKEEL_JOURNAL_URL', path: ['journal', 'url'], read: asSource },
  { name: 'TOOLKEEL_HTTP_TOKEN', path: ['http', 'token'], read: asSource },
  { name: 'TOOLKEEL_HTTP_METRICS_TOKEN', path: ['http', 'metricsToken'], read: asSource },
];

/** The host's own settings from environment variables. Empty variables are ignored. */
export function environmentLayer(env: Environment): Layer {
  const values: Record<string, unknown> = {};
  const origins = new Map<string, string>();
  for (const { name, path, read } of VARIABLES) {
    const value = env[name];
    if (value === undefined || value === '') continue;
    setAt(values, path, read(value, name));
    origins.set(pointerOf(path), name);
  }
  return { values, originOf: (path) => origins.get(pointerOf(path)) ?? 'the environment' };
}

function setAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first = '', ...rest] = path;
  if (rest.length === 0) {
    target[first] = value;
    return;
  }
  const next = { ...(target[first] as JsonObject | undefined) };
  setAt(next, rest, value);
  target[first] = next;
}

/** The settings of a pack from environment variables, each attributed to the variable that set it. */
export function packLayer({ pack, fromEnvironment }: PackBinding, env: Environment): Layer {
  const namesRead = new Set<string>();
  const settings = fromEnvironment?.(recordReads(env, namesRead));
  const isSet = isObject(settings) && Object.keys(settings).length > 0;
  const ablations = [...namesRead]
    .filter((name) => env[name] !== undefined)
    .map((name) => ({ name, settings: fromEnvironment?.({ ...env, [name]: undefined }) }));
  return {
    values: isSet ? { packs: { [pack.name]: settings } } : {},
    originOf: ([, , ...path]) => {
      // A variable set a value if the value changes without it.
      const current = jsonAt(settings, path);
      const source = ablations.find((ablation) => jsonAt(ablation.settings, path) !== current);
      return source?.name ?? 'the environment';
    },
  };
}

function recordReads(env: Environment, names: Set<string>): Environment {
  return new Proxy(env, {
    get: (target, name) => {
      names.add(String(name));
      return target[String(name)];
    },
  });
}

function jsonAt(value: unknown, path: Path): string | undefined {
  let at = value;
  for (const part of path) at = isObject(at) ? at[String(part)] : undefined;
  return JSON.stringify(at);
}
