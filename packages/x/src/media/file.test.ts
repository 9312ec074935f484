import { mkdir, mkdtemp, open, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kindOfGif, openMedia, readGif, sniff } from './file.js';
import { animatedGif, gif, jpeg, mov, mp4, png, webm, webp } from './files.fixture.js';

/** Changes to the file system before and after the open. */
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
  it('is opened if nothing changes', async () => {
    const { file, size } = await openIt();
    expect([size, (await file.readFile()).toString()]).toEqual([7, 'picture']);
    await file.close();
  });

  it('is rejected if a parent folder now leads outside', async () => {
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

  it('is rejected if it led outside during the open', async () => {
    meanwhile.beforeOpen = () => swapFor(join(folder, 'secret'));
    meanwhile.afterOpen = swapBack;
    await expect(openIt()).rejects.toMatchObject({
      toolError: { input: { code: 'file_read_error' } },
    });
  });

  it('is rejected if it leads to another file', async () => {
    meanwhile.afterOpen = () => swapFor(join(allowed, 'other'));
    await expect(openIt()).rejects.toMatchObject({
      toolError: { input: { code: 'file_read_error' } },
    });
  });
});

describe('sniff', () => {
  it.each([
    ['image/jpeg', 'tweet_image', jpeg(50)],
    ['image/png', 'tweet_image', png(50)],
    ['image/webp', 'tweet_image', webp(50)],
    ['image/gif', 'tweet_gif', gif(50)],
    ['video/mp4', 'tweet_video', mp4(50)],
    ['video/quicktime', 'tweet_video', mov(50)],
    ['video/webm', 'tweet_video', webm(50)],
  ])('recognises %s', (type, category, bytes) => {
    expect(sniff(bytes)).toEqual({ type, category });
  });

  it.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['HTML', '<html>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg">'],
    ['a program', '\x7fELF'],
    ['an archive', 'PK\x03\x04'],
    ['Matroska that is not WebM', '\x1a\x45\xdf\xa3\x9fB\x82\x88matroska'],
    ['a sound in RIFF', 'RIFF\0\0\0\0WAVEfmt '],
    ['HEIC', '\0\0\0\x18ftypheic'],
  ])('rejects %s', (_, text) => {
    expect(sniff(Buffer.from(text, 'latin1'))).toBeUndefined();
  });
});

describe('a GIF', () => {
  it('with one frame is an image', () => {
    expect(kindOfGif(gif(1000))).toEqual({ type: 'image/gif', category: 'tweet_image' });
    expect(kindOfGif(animatedGif(2, 10, 10))).toEqual({ type: 'image/gif', category: 'tweet_gif' });
    expect(readGif(animatedGif(350, 1280, 1080))).toEqual({
      width: 1280,
      height: 1080,
      frames: 350,
    });
  });

  it('with several frames has a pixel limit', () => {
    expect(kindOfGif(animatedGif(300, 1000, 1000))).toMatchObject({ category: 'tweet_gif' });
    expect(kindOfGif(animatedGif(300, 1000, 1001))).toEqual({
      problem: expect.stringContaining('300300000 pixels') as string,
    });
    expect(kindOfGif(animatedGif(350, 1280, 1080))).toHaveProperty('problem');
  });

  it('parser terminates for any input', () => {
    const start = animatedGif(3, 10, 10);
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400 }),
        fc.nat({ max: start.length }),
        fc.boolean(),
        (noise, at, isInside) => {
          const bytes = isInside
            ? Buffer.concat([start.subarray(0, at), noise, start.subarray(at)])
            : Buffer.concat([start.subarray(0, at), noise]);
          const found = readGif(bytes);
          expect(found === undefined || found.frames >= 0).toBe(true);
        },
      ),
    );
  });
});
