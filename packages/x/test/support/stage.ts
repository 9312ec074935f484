import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type FaultRule,
  startXSandbox,
  type XSandbox,
  type XSandboxOptions,
} from '@toolkeel/sandbox';
import { png } from '../../src/media/files.fixture.js';
import { type Act, commitsOf, postsFor, setsFor } from './acts.js';
import {
  type Answer,
  type Connected,
  ending,
  type Governed,
  loginTo,
  type ServeOptions,
  settledCall,
  useGoverned,
} from './governed.js';
import type { Config } from './rig.js';

interface Stage {
  readonly x: XSandbox;
  readonly folder: string;
  readonly server: Governed;
  /** Another server with the same journal. */
  readonly another: (config?: Config) => Promise<Governed>;
  /** All mutations, each with something to change. */
  readonly acts: (tag: string) => Promise<readonly Act[]>;
}

/** For tests that wait until the search for a post ends without a result. */
export const brief = { readBackMs: 600 } as const;

/**
 * A sandbox without duplicate detection, which would hide duplicates of ours. No call times out, also not on a
 * busy machine.
 */
export function useStage() {
  const { newFolder, start, onClose } = useGoverned();
  return async (
    config: Config = {},
    { sandbox = {}, ...more }: Partial<ServeOptions> & { readonly sandbox?: XSandboxOptions } = {},
  ): Promise<Stage> => {
    const x = await startXSandbox({ tier: 'enterprise', duplicateWindowMs: 0, ...sandbox });
    onClose(() => x.close());
    const folder = await newFolder();
    await writeFile(join(folder, 'picture.png'), png(200));
    const another = (changed: Config = {}): Promise<Governed> => {
      const login = loginTo(x, {
        mediaDirectories: [folder],
        toolTimeoutSecs: 40,
        ...config,
        ...changed,
      });
      return start({ folder, ...login, ...more });
    };
    return {
      x,
      folder,
      server: await another(),
      another,
      acts: async (tag) => [...(await postsFor(x, tag)), ...(await setsFor(x, 'picture.png'))],
    };
  };
}

export type Naming = 'with a key' | 'without a key';
export const namings: readonly Naming[] = ['with a key', 'without a key'];

/** Routes of all mutations except posts. */
const setRoutes = [
  ['like', 'unlike', 'repost', 'unrepost', 'bookmark', 'unbookmark', 'follow', 'unfollow'],
  ['delete-post', 'media-initialize', 'media-append', 'media-finalize'],
].flat();

/** Applies a fault to every post, and once to every other mutation. */
export const everywhere = (rule: FaultRule): FaultRule[] => [
  { ...rule, routes: ['create-post'] },
  ...setRoutes.map((route): FaultRule => ({ ...rule, routes: [route], times: 1 })),
];

/** Applies a fault to all mutations permanently. */
export const always = (rule: FaultRule): FaultRule[] => [
  { ...rule, routes: ['create-post', ...setRoutes] },
];

/** Runs all acts concurrently, each with its own key if it has one. */
export function callAll(
  server: Connected,
  acts: readonly Act[],
  naming: Naming,
): Promise<readonly Answer[]> {
  return Promise.all(
    acts.map(({ tool, args, name }) => {
      const hash = createHash('sha256').update(JSON.stringify([name, args]));
      const idempotency_key = hash.digest('hex');
      const named = naming === 'with a key' ? { ...args, idempotency_key } : args;
      return settledCall(server, tool, named);
    }),
  );
}

/** The results of the calls of one act, and how often X executed each effect. */
interface Cell {
  readonly act: string;
  readonly ended: readonly string[];
  readonly commits: readonly number[];
}

export function cellsOf(
  acts: readonly Act[],
  x: XSandbox,
  after: number,
  ...rounds: readonly (readonly Answer[])[]
): readonly Cell[] {
  return acts.map((act, index) => {
    const made = commitsOf(act, x, after);
    // A success may report any of several commits; the test checks their number.
    const expected = (made[0] ?? []).map((_, at) => act.data(made.map((commits) => commits[at]!)));
    const say = (answer: Answer | undefined): string => {
      if (!answer?.success) return answer ? ending(answer) : 'none';
      const isRight = expected.some((data) => isPart(data, answer.data));
      return isRight ? 'ok' : `wrong: ${JSON.stringify(answer.data)}`;
    };
    return {
      act: act.name,
      ended: rounds.map((answers) => say(answers[index])),
      commits: made.map((commits) => commits.length),
    };
  });
}

/** Every effect was executed once and reported by every success. */
export const done = (act: Act, naming: Naming, ended: readonly string[]): Cell => {
  // Without a key, each call uploads the current file.
  const isNewEachTime = act.tool === 'x_upload_media' && naming === 'without a key';
  const times = isNewEachTime ? ended.filter((one) => one === 'ok').length : 1;
  return { act: act.name, ended, commits: act.effects.map(() => times) };
};

/** Nothing was executed. */
export const undone = (act: Act, ended: readonly string[]): Cell => ({
  act: act.name,
  ended,
  commits: act.effects.map(() => 0),
});

function isPart(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) return part === whole;
  if (typeof whole !== 'object' || whole === null) return false;
  return Object.entries(part).every(([key, value]) =>
    isPart(value, (whole as Readonly<Record<string, unknown>>)[key]),
  );
}
