import { mkdir, mkdtemp, open, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMedia } from './file.js';

/** What somebody else does between our look at a path and the opening, and right after it. */
const meanwhile = {
  beforeOpen: async (): Promise<void> => undefined,
  afterOpen: async (): Promise<void> => undefined,
};
const openMeanwhile: typeof open = async (...args) => {
  await meanwhile.beforeOpen();
  const file = await open(...args);
  await meanwhile.afterOpen();
  return file;
};
const openIt = () => openMedia(path, [allowed], openMeanwhile);

const nothing = async (): Promise<void> => undefined;
let folder = '';
let allowed = '';
let path = '';
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'toolkeel-open-')));
  allowed = join(folder, 'allowed');
  path = join(allowed, 'sub', 'picture.png');
  for (const [parent, text] of [
    [join(allowed, 'sub'), 'picture'],
    [join(folder, 'secret'), 'private'],
    [join(allowed, 'other'), 'another'],
  ] as const) {
    await mkdir(parent, { recursive: true });
    await writeFile(join(parent, 'picture.png'), text);
  }
});
afterEach(async () => {
  Object.assign(meanwhile, { beforeOpen: nothing, afterOpen: nothing });
  await rm(folder, { recursive: true, force: true });
});

const kept = () => join(allowed, 'kept');
const swapFor = async (target: string): Promise<void> => {
  await rename(join(allowed, 'sub'), kept());
  await symlink(target, join(allowed, 'sub'));
};
const swapBack = async (): Promise<void> => {
  await rm(join(allowed, 'sub'));
  await rename(kept(), join(allowed, 'sub'));
};

describe('a path that changes while it is opened', () => {
  it('is opened where nothing changes', async () => {
    const { file, size } = await openIt();
    expect([size, (await file.readFile()).toString()]).toEqual([7, 'picture']);
    await file.close();
  });

  it('is refused when a folder on the way leads out by now', async () => {
    meanwhile.beforeOpen = () => swapFor(join(folder, 'secret'));
    await expect(openIt()).rejects.toMatchObject({
      toolError: {
        input: {
          code: 'file_read_error',
          message: expect.stringContaining('changed while') as string,
        },
      },
    });
  });

  it('is refused when it led out only while it was opened', async () => {
    meanwhile.beforeOpen = () => swapFor(join(folder, 'secret'));
    meanwhile.afterOpen = swapBack;
    await expect(openIt()).rejects.toMatchObject({
      toolError: { input: { code: 'file_read_error' } },
    });
  });

  it('is refused when it leads to another file of the same folders', async () => {
    meanwhile.afterOpen = () => swapFor(join(allowed, 'other'));
    await expect(openIt()).rejects.toMatchObject({
      toolError: { input: { code: 'file_read_error' } },
    });
  });
});
