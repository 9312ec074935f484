import { pointerOf, type Path } from './pointer.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** One source of settings, and who said them. */
export interface Layer {
  readonly values: JsonObject;
  /** Names who said what stands at a path: a file, a variable, a flag. */
  readonly originOf: (path: Path) => string;
}

export interface Merged {
  readonly values: JsonObject;
  readonly originOf: (path: Path) => string;
}

/** Puts layers over each other, the last on top. Lists are replaced, objects are merged. */
export function mergeLayers(layers: readonly Layer[]): Merged {
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
  under: JsonObject,
  over: JsonObject,
  path: Path,
  claim: (path: Path) => void,
): JsonObject {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue;
    const at = [...path, key];
    const below = under[key];
    claim(at);
    merged[key] =
      isObject(value) && !isSource(value)
        ? merge(isObject(below) && !isSource(below) ? below : {}, value, at, claim)
        : value;
  }
  return merged;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Where a secret is kept is one value: half of it makes no sense. */
function isSource(value: JsonObject): boolean {
  return typeof value['env'] === 'string' || typeof value['file'] === 'string';
}
