import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startXSandbox, type XSandbox, type XSandboxOptions } from '@toolkeel/sandbox';
import { png } from '../../src/media/files.fixture.js';
import { postsFor, setsFor, type Act } from './acts.js';
import { loginTo, useGoverned, type Governed, type ServeOptions } from './governed.js';
import type { Config } from './rig.js';

export interface Stage {
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
