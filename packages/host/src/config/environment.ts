import type { JsonObject, Layer } from './layers.js';
import { pointerOf } from './pointer.js';

export type Environment = Readonly<Record<string, string | undefined>>;

interface Variable {
  readonly name: string;
  readonly path: readonly string[];
  readonly read: (value: string, name: string) => unknown;
}

const asText = (value: string): string => value;
// What is no number stays text, so that the schema refuses it by name.
const asNumber = (value: string): unknown => (Number.isNaN(Number(value)) ? value : Number(value));
const asSource = (_value: string, name: string): unknown => ({ env: name });

const VARIABLES: readonly Variable[] = [
  { name: 'TOOLKEEL_PROFILE', path: ['profile'], read: asText },
  { name: 'TOOLKEEL_LOG_LEVEL', path: ['log', 'level'], read: asText },
  { name: 'TOOLKEEL_DATA_DIR', path: ['dataDir'], read: asText },
  { name: 'TOOLKEEL_TOOL_TIMEOUT_SECS', path: ['toolTimeoutSecs'], read: asNumber },
  { name: 'TOOLKEEL_BYTE_BUDGET', path: ['byteBudget'], read: asNumber },
  { name: 'TOOLKEEL_JOURNAL_URL', path: ['journal', 'url'], read: asSource },
  { name: 'TOOLKEEL_HTTP_TOKEN', path: ['http', 'token'], read: asSource },
  { name: 'TOOLKEEL_HTTP_METRICS_TOKEN', path: ['http', 'metricsToken'], read: asSource },
];

/** What the environment says of the host's own settings. Empty variables say nothing. */
export function environmentLayer(env: Environment): Layer {
  const values: Record<string, unknown> = {};
  const origins = new Map<string, string>();
  for (const { name, path, read } of VARIABLES) {
    const value = env[name];
    if (value === undefined || value === '') continue;
    put(values, path, read(value, name));
    origins.set(pointerOf(path), name);
  }
  return { values, originOf: (path) => origins.get(pointerOf(path)) ?? 'the environment' };
}

function put(into: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first = '', ...rest] = path;
  if (rest.length === 0) {
    into[first] = value;
    return;
  }
  const next = { ...(into[first] as JsonObject | undefined) };
  put(next, rest, value);
  into[first] = next;
}
