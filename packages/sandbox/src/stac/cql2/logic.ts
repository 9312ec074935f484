import { badParameter } from '../api/problem.js';
import type { Scene } from '../catalogue/scene.js';

/** True, false, or null where a scene lacks what is asked about: three values, as in SQL. */
export type Test = (scene: Scene) => boolean | null;

export function every(tests: readonly Test[]): Test {
  return (scene) => {
    let unknown = false;
    for (const test of tests) {
      const held = test(scene);
      if (held === false) return false;
      unknown ||= held === null;
    }
    return unknown ? null : true;
  };
}

export function some(tests: readonly Test[]): Test {
  const none = every(tests.map(negated));
  return negated(none);
}

export function negated(test: Test = () => null): Test {
  return (scene) => {
    const held = test(scene);
    return held === null ? null : !held;
  };
}

export function atLeast<Arg>(count: number, op: string, args: readonly Arg[]): readonly Arg[] {
  if (args.length < count) throw badParameter('filter', `"${op}" has too few arguments`);
  return args;
}

export function exactly<Arg>(count: number, op: string, args: readonly Arg[]): readonly Arg[] {
  if (args.length !== count) throw badParameter('filter', `"${op}" needs ${count} argument(s)`);
  return args;
}
