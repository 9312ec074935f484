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
import { createHash } from 'node:crypto';

interface Stage {
  readonly x: XSandbox;
  readonly folder: string;
  readonly server: Governed;
  /** Another server of the same installation: the same journal, and nothing else in common. */
  readonly another: (config?: Config) => Promise<Governed>;
  /** Everything that can be done to X, with work to do for each. */
  readonly acts: (tag: string) => Promise<readonly Act[]>;
}

/** X, where the same post is no duplicate: its own care would hide our lack of it. */
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
      const login = loginTo(x, { mediaDirectories: [folder], ...config, ...changed });
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

/** All that changes something, except posts, by the name of X's route. */
const setRoutes = [
  ['like', 'unlike', 'repost', 'unrepost', 'bookmark', 'unbookmark', 'follow', 'unfollow'],
  ['delete-post', 'media-initialize', 'media-append', 'media-finalize'],
].flat();

/** Every post meets it, and everything else that changes something meets it once. */
export const everywhere = (rule: FaultRule): FaultRule[] => [
  { ...rule, routes: ['create-post'] },
  ...setRoutes.map((route): FaultRule => ({ ...rule, routes: [route], times: 1 })),
];

/** The same, and it does not pass. */
export const always = (rule: FaultRule): FaultRule[] => [
  { ...rule, routes: ['create-post', ...setRoutes] },
];

/** All of them at once, each with its own key where it has one. */
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

/** What can be said of one act after some calls: how they ended, and what X did, part by part. */
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
    // Of what was done more than once any may be meant; how often is for the test to judge.
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

/** A cell of which every part was done once, and every success said what came of it. */
export const done = (act: Act, naming: Naming, ended: readonly string[]): Cell => {
  // A path may lead to another picture by now: without a key each call uploads what it finds there.
  const isNewEachTime = act.tool === 'x_upload_media' && naming === 'without a key';
  const times = isNewEachTime ? ended.filter((one) => one === 'ok').length : 1;
  return { act: act.name, ended, commits: act.effects.map(() => times) };
};

/** One of which nothing was done. */
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
