import type { Environment } from './environment.js';
import { isObject, type Layer } from './layers.js';
import type { PackBinding } from './load.js';
import type { Path } from './pointer.js';

/** What the environment says of a pack. Each part is known by the variable that said it. */
export function packLayer({ pack, fromEnvironment }: PackBinding, env: Environment): Layer {
  const asked = new Set<string>();
  const said = fromEnvironment?.(noting(env, asked));
  const isSaid = isObject(said) && Object.keys(said).length > 0;
  const withouts = [...asked]
    .filter((name) => env[name] !== undefined)
    .map((name) => ({ name, rest: fromEnvironment?.({ ...env, [name]: undefined }) }));
  return {
    values: isSaid ? { packs: { [pack.name]: said } } : {},
    originOf: ([, , ...path]) => {
      // It said what would be something else without it.
      const now = textAt(said, path);
      return withouts.find(({ rest }) => textAt(rest, path) !== now)?.name ?? 'the environment';
    },
  };
}

function noting(env: Environment, asked: Set<string>): Environment {
  return new Proxy(env, {
    get: (target, name) => {
      asked.add(String(name));
      return target[String(name)];
    },
  });
}

function textAt(value: unknown, path: Path): string | undefined {
  let at = value;
  for (const part of path) at = isObject(at) ? at[String(part)] : undefined;
  return JSON.stringify(at);
}
