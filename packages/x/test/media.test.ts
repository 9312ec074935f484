import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { animatedGif, gif, mp4, png } from '../src/media/files.fixture.js';
import { recordingJournal } from '@toolkeel/pack-kit/testing';
import { useSandbox } from './support/rig.js';

const sandboxWorld = useSandbox();

let folder = '';
let allowed = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-media-'));
  allowed = join(folder, 'allowed');
  await mkdir(join(allowed, 'sub'), { recursive: true });
  await mkdir(join(folder, 'secret'));
  await writeFile(join(allowed, 'picture.png'), png(2_000));
  await writeFile(join(allowed, 'sub', 'film.mp4'), mp4(9_000_000));
  await writeFile(join(folder, 'secret', 'private.png'), png(100));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (options: object = {}) =>
  sandboxWorld(
    { mediaProcessingMs: 60, mediaCheckAfterSeconds: 0, ...options },
    {
      mediaDirectories: [allowed],
      toolTimeoutSecs: 5,
      attemptTimeoutSecs: 2,
    },
  );

describe('upload', () => {
  it('sends segments, waits for processing and sets the alt text', async () => {
    const { rig, sandbox } = await open();
    const progress: number[] = [];
    const args = { file_path: join(allowed, 'sub', 'film.mp4'), alt_text: 'A film about terns' };
    const data = await rig.data('x_upload_media', args, {
      progress: ({ progress: done }) => progress.push(done),
    });
    expect(data).toMatchObject({
      media_type: 'video/mp4',
      media_category: 'tweet_video',
      size_bytes: 9_000_000,
      state: 'ready',
      expires_in_secs: 86_400,
    });
    const { media_id: id } = data;
    expect(sandbox.commits()).toMatchObject([
      { kind: 'media.initialized', id },
      { kind: 'media.appended', id, segment: 0 },
      { kind: 'media.appended', id, segment: 1 },
      { kind: 'media.appended', id, segment: 2 },
      { kind: 'media.finalized', id },
      { kind: 'media.described', id },
    ]);
    expect(progress).toEqual([1, 2, 3]);
    const post = await rig.data('x_post_tweet', { text: 'watch', media_ids: [id] });
    expect(post['id']).toBeDefined();
  });

  it('accepts a relative path, and only checks it on a dry run', async () => {
    const { rig, sandbox } = await open();
    expect(await rig.data('x_upload_media', { file_path: 'picture.png', dry_run: true })).toEqual({
      media_id: null,
      media_key: null,
      media_type: 'image/png',
      media_category: 'tweet_image',
      size_bytes: 2_000,
      state: 'checked',
      expires_in_secs: null,
    });
    expect(sandbox.log()).toEqual([]);
    expect(await rig.data('x_upload_media', { file_path: 'picture.png' })).toMatchObject({
      state: 'ready',
    });
  });

  it.each(['media-initialize', 'media-append', 'media-finalize', 'media-metadata'])(
    'survives a lost response of %s',
    async (route) => {
      const { rig, sandbox } = await open();
      for (const kind of ['reset-after-read', 'http-503'] as const) {
        sandbox.setFaults([{ kind, routes: [route], times: 1 }]);
        const data = await rig.data('x_upload_media', { file_path: 'picture.png', alt_text: 'a' });
        expect(sandbox.commits({ kind: 'media.finalized' }).at(-1)).toMatchObject({
          id: data['media_id'],
        });
      }
    },
  );

  it('reports why X failed to process a file', async () => {
    const { rig, sandbox } = await open();
    sandbox.setFaults([{ kind: 'x-media-fails', routes: ['media-finalize'], times: 1 }]);
    const used = await rig.run('x_upload_media', { file_path: 'sub/film.mp4' });
    const [made] = sandbox.commits({ kind: 'media.finalized' });
    expect(used).toMatchObject({
      data: { media_id: made && 'id' in made ? made.id : 'none', stage: 'processing' },
      error: {
        code: 'media_upload_error',
        outcome: 'executed',
        message: expect.stringContaining('Unsupported video format') as string,
        details: { stage: 'processing' },
      },
    });
    sandbox.setFaults([{ kind: 'http-400', routes: ['media-append'], times: 1 }]);
    expect(await rig.error('x_upload_media', { file_path: 'picture.png' })).toMatchObject({
      code: 'media_upload_error',
      details: { stage: 'append', status: 400 },
    });
    sandbox.setFaults([{ kind: 'x-429-window', routes: ['media-initialize'], times: 1 }]);
    expect(await rig.code('x_upload_media', { file_path: 'picture.png' })).toBe('x_rate_limited');
  });

  it.each([
    ['http-400', /X rejected/],
    ['x-402-credits', /no credits/],
    ['x-403-not-permitted', /does not allow/],
  ] as const)('keeps the media id if the alt text fails: %s', async (kind, why) => {
    const { rig, sandbox } = await open();
    sandbox.setFaults([{ kind, routes: ['media-metadata'] }]);
    const args = { file_path: join(allowed, 'picture.png'), alt_text: 'A tern' };
    const envelope = await rig.run('x_upload_media', args);
    const [made] = sandbox.commits({ kind: 'media.finalized' });
    const media_id = made && 'id' in made ? made.id : 'none';
    expect(envelope).toMatchObject({
      success: false,
      data: { media_id, stage: 'alt_text', expires_in_secs: 86_400 },
      error: {
        code: 'media_upload_error',
        outcome: 'executed',
        message: expect.stringMatching(why) as string,
        details: { stage: 'alt_text' },
      },
    });
    expect(await rig.data('x_post_tweet', { text: 'a', media_ids: [media_id] })).toBeDefined();
  });

  it('returns at the deadline while X is still processing', async () => {
    const { rig } = await open({ mediaProcessingMs: 60_000, mediaCheckAfterSeconds: 30 });
    expect(await rig.data('x_upload_media', { file_path: 'sub/film.mp4' })).toMatchObject({
      state: 'processing',
    });
  });

  it('records the operation before the first byte', async () => {
    const { rig } = await open();
    const book = recordingJournal();
    await rig.data('x_upload_media', { file_path: 'picture.png' }, book);
    expect(book.sends.length).toBeGreaterThan(0);
  });
});

describe('the file', () => {
  it.each([
    [
      'a text in a picture’s clothes',
      'fake.png',
      Buffer.from('just text'),
      'unsupported_media_type',
    ],
    ['an empty file', 'empty.png', Buffer.alloc(0), 'file_read_error'],
    ['an image that is too large', 'big.png', png(5_000_001), 'media_upload_error'],
    [
      'a still GIF that is too large for an image',
      'still.gif',
      gif(6_000_000),
      'media_upload_error',
    ],
    ['a broken GIF', 'broken.gif', gif(100).subarray(0, 20), 'media_upload_error'],
    ['too many frames', 'long.gif', animatedGif(351, 10, 10), 'media_upload_error'],
    ['too many pixels', 'huge.gif', animatedGif(350, 1280, 1080), 'media_upload_error'],
    ['a GIF that is too wide', 'wide.gif', animatedGif(2, 1281, 10), 'media_upload_error'],
  ])('is not %s', async (_, name, bytes, code) => {
    const { rig, sandbox } = await open();
    await writeFile(join(allowed, name), bytes);
    expect(await rig.code('x_upload_media', { file_path: name })).toBe(code);
    expect(sandbox.log()).toEqual([]);
  });

  it('can be an animated GIF of up to 15 million bytes', async () => {
    const { rig } = await open();
    const moving = (size: number) => Buffer.concat([animatedGif(2, 10, 10)], size);
    const checked = async (size: number) => {
      await writeFile(join(allowed, 'moving.gif'), moving(size));
      return rig.run('x_upload_media', { file_path: 'moving.gif', dry_run: true });
    };
    expect(await checked(15_000_000)).toMatchObject({
      data: { media_category: 'tweet_gif', size_bytes: 15_000_000 },
    });
    expect(await checked(15_000_001)).toMatchObject({
      error: {
        code: 'media_upload_error',
        message: 'file_path: has 15000001 bytes; X accepts 15000000.',
      },
    });
  });

  it('is identified by its content, not its name', async () => {
    const { rig } = await open();
    await writeFile(join(allowed, 'notes.txt'), animatedGif(2, 10, 10));
    expect(await rig.data('x_upload_media', { file_path: 'notes.txt' })).toMatchObject({
      media_type: 'image/gif',
      media_category: 'tweet_gif',
    });
  });

  it('is an image if it is a GIF with one frame', async () => {
    const { rig } = await open({ mediaProcessingMs: 3_600_000 });
    await writeFile(join(allowed, 'still.gif'), gif(2_000));
    const data = await rig.data('x_upload_media', { file_path: 'still.gif' });
    expect(data).toMatchObject({
      media_type: 'image/gif',
      media_category: 'tweet_image',
      state: 'ready',
    });
    const post = { text: 'still', media_ids: [data['media_id']] };
    expect(await rig.data('x_post_tweet', post)).toBeDefined();
  });

  it('must be below a configured folder after links are resolved', async () => {
    const { rig, sandbox } = await open();
    await symlink(join(folder, 'secret', 'private.png'), join(allowed, 'link.png'));
    await symlink(join(folder, 'secret'), join(allowed, 'way'));
    await symlink('picture.png', join(allowed, 'inside.png'));
    for (const path of [
      join(folder, 'secret', 'private.png'),
      join(allowed, '..', 'secret', 'private.png'),
      '../secret/private.png',
      'link.png',
      join(allowed, 'link.png'),
      'way/private.png',
      '/etc/passwd',
      allowed,
      '.',
      'sub',
      'missing.png',
      'a\0b',
    ]) {
      const error = await rig.error('x_upload_media', { file_path: path });
      expect({ path, code: error.code }).toEqual({ path, code: 'file_read_error' });
      // The message does not reveal other files.
      expect(error.message).not.toContain(folder);
    }
    expect(sandbox.log()).toEqual([]);
    expect(await rig.data('x_upload_media', { file_path: 'inside.png' })).toBeDefined();
    await link(join(allowed, 'picture.png'), join(allowed, 'hard.png'));
    expect(await rig.data('x_upload_media', { file_path: 'hard.png' })).toBeDefined();
  });

  it('is always rejected without a configured folder', async () => {
    const { rig } = await sandboxWorld();
    const error = await rig.error('x_upload_media', { file_path: join(allowed, 'picture.png') });
    expect(error).toMatchObject({
      code: 'file_read_error',
      message: expect.stringContaining('mediaDirectories') as string,
    });
  });
});
