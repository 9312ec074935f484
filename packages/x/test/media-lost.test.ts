import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startXSandbox, type FaultRule } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { mp4, png } from '../src/media/files.fixture.js';
import { loginTo, useGoverned } from './support/governed.js';

const { newFolder, onClose, start } = useGoverned();

/** A processing time longer than any call. */
const LONG_MS = 3_600_000;

/** A server with a journal and two uploadable files. */
async function open(mediaProcessingMs = 60, toolTimeoutSecs = 8) {
  const sandbox = await startXSandbox({ tier: 'enterprise', mediaProcessingMs });
  onClose(() => sandbox.close());
  const folder = await newFolder();
  await writeFile(join(folder, 'film.mp4'), mp4(2_000));
  await writeFile(join(folder, 'picture.png'), png(2_000));
  const login = loginTo(sandbox, {
    mediaDirectories: [folder],
    toolTimeoutSecs,
    attemptTimeoutSecs: 2,
  });
  const server = await start({ folder, ...login });
  const upload = (file_path: string) =>
    server.call('x_upload_media', { file_path, idempotency_key: 'one-upload-of-this-file' });
  const post = (args: object) => server.call('x_post_tweet', args);
  const finalized = () => sandbox.commits({ kind: 'media.finalized' });
  const begun = () =>
    sandbox
      .commits({ kind: 'media.initialized' })
      .map((commit) => ('id' in commit ? commit.id : 'none'));
  return { sandbox, upload, post, finalized, begun };
}

describe.concurrent('a failed status request of a finished upload', () => {
  it.each(['x-429-window', 'http-503', 'stall', 'garbage', 'reset-after-read'] as const)(
    'leaves the file uploaded once: %s',
    async (kind) => {
      const { sandbox, upload, begun, finalized } = await open(LONG_MS, kind === 'stall' ? 5 : 8);
      sandbox.setFaults([{ kind, routes: ['media-status'] }]);
      const first = await upload('film.mp4');
      const [media_id] = begun();
      expect(first).toMatchObject({ success: true, data: { media_id, state: 'processing' } });
      sandbox.setFaults([]);
      expect(await upload('film.mp4')).toMatchObject({
        data: { media_id },
        meta: { idempotency: { replayed: true } },
      });
      expect(begun()).toHaveLength(1);
      expect(finalized()).toHaveLength(1);
    },
  );

  it.each(['x-402-credits', 'http-400', 'http-404', 'http-401'] as const)(
    'reports the rejection and the media id: %s',
    async (kind) => {
      const { sandbox, upload, begun } = await open(LONG_MS);
      sandbox.setFaults([{ kind, routes: ['media-status'] }]);
      const first = await upload('film.mp4');
      const [media_id] = begun();
      const told = {
        data: { media_id, stage: 'processing', expires_in_secs: 86_400 },
        error: {
          code: 'media_upload_error',
          outcome: 'executed',
          message: expect.stringContaining(String(media_id)) as string,
          details: { stage: 'processing' },
        },
      };
      expect(first).toMatchObject(told);
      sandbox.setFaults([]);
      expect(await upload('film.mp4')).toMatchObject(told);
      expect(begun()).toHaveLength(1);
    },
  );
});

describe.concurrent('an upload with an unknown finalize', () => {
  it.each(['http-503', 'reset-before-read', 'stall'] as const)(
    'returns its id, and is finalized once: %s',
    async (kind) => {
      const { sandbox, upload, begun, finalized } = await open();
      sandbox.setFaults([{ kind, routes: ['media-finalize'] }]);
      expect(await upload('picture.png')).toMatchObject({
        data: { media_id: begun()[0], stage: 'finalize' },
        error: { code: 'media_upload_error', outcome: 'unknown', details: { stage: 'finalize' } },
      });
      sandbox.setFaults([]);
      expect(await upload('picture.png')).toMatchObject({ success: true });
      expect(finalized()).toHaveLength(1);
    },
  );

  const lost = ['acted-http-503', 'reset-after-read'] as const;

  it.each(lost)('is found where X works on it, and not done again: %s', async (kind) => {
    const { sandbox, upload, begun, finalized } = await open();
    sandbox.setFaults([{ kind, routes: ['media-finalize'] }]);
    const ready = { success: true, data: { media_id: expect.any(String) as string } };
    expect(await upload('film.mp4')).toMatchObject(ready);
    sandbox.setFaults([]);
    expect(await upload('film.mp4')).toMatchObject({ data: { media_id: begun()[0] } });
    expect(begun()).toHaveLength(1);
    expect(finalized()).toHaveLength(1);
  });

  it.each(lost)('has an id that can be posted, if X did: %s', async (kind) => {
    const { sandbox, upload, begun, post } = await open();
    sandbox.setFaults([{ kind, routes: ['media-finalize'] }]);
    expect(await upload('picture.png')).toMatchObject({ data: { media_id: begun()[0] } });
    const args = { text: 'it was there', media_ids: begun() };
    expect(await post(args)).toMatchObject({ success: true });
  });

  const lostThenRefused: readonly FaultRule[] = [
    { kind: 'acted-http-503', routes: ['media-finalize'], times: 1 },
    { kind: 'http-400', routes: ['media-finalize'], times: 1 },
  ];

  it('is resolved by its status if a retry is rejected', async () => {
    const { sandbox, upload, begun } = await open();
    sandbox.setFaults(lostThenRefused);
    const answer = await upload('film.mp4');
    expect(answer).toMatchObject({ success: true, data: { media_id: begun()[0], state: 'ready' } });
  });

  it.each([
    ['picture.png', 'x-402-credits'],
    ['film.mp4', 'x-403-not-permitted'],
    ['picture.png', 'http-400'],
  ] as const)(
    'is not ready just because X has it, if no attempt finalized it: %s, %s',
    async (file, kind) => {
      const { sandbox, upload, begun, finalized } = await open();
      sandbox.setFaults([
        { kind: 'http-503', routes: ['media-finalize'], times: 1 },
        { kind, routes: ['media-finalize'], times: 1 },
      ]);
      expect(await upload(file)).toMatchObject({
        success: false,
        data: { media_id: begun()[0], stage: 'finalize' },
        error: { code: 'media_upload_error', outcome: 'unknown', details: { stage: 'finalize' } },
      });
      expect(finalized()).toEqual([]);
      sandbox.setFaults([]);
      expect(await upload(file)).toMatchObject({ data: { media_id: begun()[1], state: 'ready' } });
    },
  );

  const empty: FaultRule = { kind: 'empty-json', routes: ['media-finalize'] };

  it('is resolved by its status if the response is empty', async () => {
    const { sandbox, upload, begun } = await open(LONG_MS);
    sandbox.setFaults([empty]);
    expect(await upload('film.mp4')).toMatchObject({
      success: true,
      data: { media_id: begun()[0], state: 'processing' },
    });
  });

  it.each(['empty-json', 'garbage'] as const)(
    'is repeated once after an unreadable response: %s',
    async (kind) => {
      const { sandbox, upload, finalized } = await open();
      sandbox.setFaults([{ kind, routes: ['media-finalize'], times: 1 }]);
      expect(await upload('picture.png')).toMatchObject({
        success: true,
        data: { state: 'ready' },
      });
      expect(finalized()).toHaveLength(1);
    },
  );

  it('stays unknown if X never reports it', async () => {
    const { sandbox, upload, begun } = await open();
    sandbox.setFaults([empty]);
    expect(await upload('picture.png')).toMatchObject({
      data: { media_id: begun()[0], stage: 'finalize' },
      error: { outcome: 'unknown' },
    });
  });

  it('stays unknown if the status request fails', async () => {
    const { sandbox, upload, begun } = await open();
    sandbox.setFaults([...lostThenRefused, { kind: 'http-404', routes: ['media-status'] }]);
    expect(await upload('film.mp4')).toMatchObject({
      data: { media_id: begun()[0], stage: 'finalize' },
      error: { outcome: 'unknown' },
    });
  });

  it('does not include uploads that X rejected at once', async () => {
    const { sandbox, upload } = await open();
    sandbox.setFaults([{ kind: 'http-400', routes: ['media-finalize'], times: 1 }]);
    expect(await upload('film.mp4')).toMatchObject({
      data: null,
      error: { outcome: 'not_executed', details: { stage: 'finalize', status: 400 } },
    });
    expect(sandbox.log().filter(({ route }) => route === 'media-status')).toEqual([]);
  });
});
