import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mp4 } from '../src/media/files.fixture.js';
import type { Reply, Seen } from './support/server.js';
import { useWorld } from './support/world.js';

const { world } = useWorld();

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-media-'));
  await writeFile(join(folder, 'film.mp4'), mp4(2_000));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** An X that is never done with a file. */
const open = (status: Reply) =>
  world(
    ({ method, path }: Seen): Reply => {
      if (method === 'GET' && path === '/2/media/upload') return status;
      const processing_info = { state: 'pending', check_after_secs: 0 };
      return {
        json: { data: { id: '77', ...(path.endsWith('finalize') && { processing_info }) } },
      };
    },
    { mediaDirectories: [folder], toolTimeoutSecs: 3 },
  );

const isLook = ({ method }: Seen) => method === 'GET';

describe.concurrent('looking whether X is done with a file', () => {
  it.each([0, -5, 0.0001])('does not flood X that says to look after %d s', async (secs) => {
    const processing_info = { state: 'in_progress', check_after_secs: secs };
    const { rig, server } = await open({ json: { data: { id: '77', processing_info } } });
    const data = await rig.data('x_upload_media', { file_path: 'film.mp4' });
    expect(data).toMatchObject({ media_id: '77', state: 'processing' });
    // After 250, 750 and 1750 ms at the earliest; the next one would be too late.
    expect(server.seen.filter(isLook).length).toBeLessThanOrEqual(3);
  });

  it.each([
    ['nothing', {}],
    ['only errors', { errors: [{ type: 'https://api.x.com/2/problems/internal-error' }] }],
  ])('does not take %s for a file that is ready', async (_, json) => {
    const { rig } = await open({ json });
    expect(await rig.data('x_upload_media', { file_path: 'film.mp4' })).toMatchObject({
      media_id: '77',
      state: 'processing',
    });
  });
});
