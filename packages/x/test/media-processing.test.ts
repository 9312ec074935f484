import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startXSandbox } from '@toolkeel/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mp4, png } from '../src/media/files.fixture.js';
import { loginTo, useGoverned } from './support/governed.js';
import { useWorld } from './support/rig.js';
import type { Reply, ReceivedRequest } from '@toolkeel/pack-kit/testing';

const { world } = useWorld();

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-media-'));
  await writeFile(join(folder, 'film.mp4'), mp4(2_000));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** An X that never finishes processing. */
const open = (status: Reply) =>
  world(
    ({ method, path }: ReceivedRequest): Reply => {
      if (method === 'GET' && path === '/2/media/upload') return status;
      const processing_info = { state: 'pending', check_after_secs: 0 };
      return {
        json: { data: { id: '77', ...(path.endsWith('finalize') && { processing_info }) } },
      };
    },
    { mediaDirectories: [folder], toolTimeoutSecs: 3 },
  );

const isLook = ({ method }: ReceivedRequest) => method === 'GET';

describe.concurrent('waiting for media processing', () => {
  it.each([0, -5, 0.0001])('does not flood X for check_after_secs %d', async (secs) => {
    const processing_info = { state: 'in_progress', check_after_secs: secs };
    const { rig, server } = await open({ json: { data: { id: '77', processing_info } } });
    const data = await rig.data('x_upload_media', { file_path: 'film.mp4' });
    expect(data).toMatchObject({ media_id: '77', state: 'processing' });
    // After 250, 750 and 1750 ms at the earliest; the next one would be too late.
    expect(server.requests.filter(isLook).length).toBeLessThanOrEqual(3);
  });

  it.each([
    ['nothing', {}],
    ['only errors', { errors: [{ type: 'https://api.x.com/2/problems/internal-error' }] }],
  ])('does not treat %s as ready', async (_, json) => {
    const { rig } = await open({ json });
    expect(await rig.data('x_upload_media', { file_path: 'film.mp4' })).toMatchObject({
      media_id: '77',
      state: 'processing',
    });
  });
});

const { newFolder, onClose, start } = useGoverned();

/** A server with a journal and uploadable files. */
async function openUnfinished(times: { toolTimeoutSecs: number; attemptTimeoutSecs: number }) {
  const sandbox = await startXSandbox({ tier: 'enterprise', mediaProcessingMs: 0 });
  onClose(() => sandbox.close());
  const folder = await newFolder();
  await writeFile(join(folder, 'picture.png'), png(2_000));
  const film = join(folder, 'film-of-4-pieces.mp4');
  await writeFile(film, mp4(100));
  await truncate(film, 16 * 1024 * 1024);
  const login = loginTo(sandbox, { mediaDirectories: [folder], ...times });
  const server = await start({ folder, ...login });
  const upload = (file_path: string) =>
    server.call('x_upload_media', { file_path, idempotency_key: 'one-upload-of-this-file' });
  return { sandbox, upload };
}

describe.concurrent('an upload that was not finalized', () => {
  it.each([
    ['http-503', 'media-initialize', 'x_api_error'],
    ['stall', 'media-initialize', 'x_network_error'],
    ['empty-json', 'media-initialize', 'x_api_error'],
    ['acted-http-503', 'media-append', 'x_api_error'],
    ['stall', 'media-append', 'x_network_error'],
    ['reset-after-read', 'media-append', 'x_network_error'],
  ] as const)(
    'has the outcome not_executed and can be repeated: %s at %s',
    async (kind, route, code) => {
      const { sandbox, upload } = await openUnfinished({
        toolTimeoutSecs: 15,
        attemptTimeoutSecs: 1,
      });
      sandbox.setFaults([{ kind, routes: [route] }]);
      const answer = await upload('picture.png');
      expect(answer).toMatchObject({ data: null, error: { code, outcome: 'not_executed' } });
      expect(sandbox.commits({ kind: 'media.finalized' })).toEqual([]);
      sandbox.setFaults([]);
      expect(await upload('picture.png')).toMatchObject({ success: true });
    },
  );

  /** The call times out before an attempt does. */
  const inAHurry = { toolTimeoutSecs: 8, attemptTimeoutSecs: 5 };

  it('reports a too short timeout if X accepted segments until the deadline', async () => {
    const { sandbox, upload } = await openUnfinished(inAHurry);
    sandbox.setFaults([{ kind: 'drip', routes: ['media-append'], dripMs: 2_500 }]);
    expect(await upload('film-of-4-pieces.mp4')).toMatchObject({
      data: null,
      error: {
        code: 'x_network_error',
        outcome: 'not_executed',
        message: expect.stringMatching(/[123] of 4 segments.* packs\.x\.toolTimeoutSecs/) as string,
        details: { clock: 'deadline' },
      },
    });
    expect(sandbox.commits({ kind: 'media.finalized' })).toEqual([]);
  });

  it('reports a network error if X is silent', async () => {
    const { sandbox, upload } = await openUnfinished(inAHurry);
    sandbox.setFaults([{ kind: 'stall', routes: ['media-append'] }]);
    expect(await upload('film-of-4-pieces.mp4')).toMatchObject({
      error: {
        message: expect.stringContaining('did not answer in time') as string,
        details: { clock: 'deadline' },
      },
    });
  });
});
