import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startXSandbox } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { mp4, png } from '../src/media/files.fixture.js';
import { loginTo, useGoverned } from './support/governed.js';

const { newFolder, onClose, start } = useGoverned();

/** A server with a journal, and files that it may upload. */
async function open(times: { toolTimeoutSecs: number; attemptTimeoutSecs: number }) {
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

describe.concurrent('an upload that X was never told to finish', () => {
  it.each([
    ['http-503', 'media-initialize', 'x_api_error'],
    ['stall', 'media-initialize', 'x_network_error'],
    ['empty-json', 'media-initialize', 'x_api_error'],
    ['acted-http-503', 'media-append', 'x_api_error'],
    ['stall', 'media-append', 'x_network_error'],
    ['reset-after-read', 'media-append', 'x_network_error'],
  ] as const)(
    'was not carried out, and is begun again: %s at %s',
    async (kind, route, code) => {
      const { sandbox, upload } = await open({ toolTimeoutSecs: 15, attemptTimeoutSecs: 1 });
      sandbox.setFaults([{ kind, routes: [route] }]);
      const answer = await upload('picture.png');
      expect(answer).toMatchObject({ data: null, error: { code, outcome: 'not_executed' } });
      expect(sandbox.commits({ kind: 'media.finalized' })).toEqual([]);
      sandbox.setFaults([]);
      expect(await upload('picture.png')).toMatchObject({ success: true });
    },
    30_000,
  );

  /** So that it is the call that ends, and not an attempt. */
  const inAHurry = { toolTimeoutSecs: 8, attemptTimeoutSecs: 5 };

  it('says what it lacks where the call ended while X took pieces', async () => {
    const { sandbox, upload } = await open(inAHurry);
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
  }, 30_000);

  it('does not blame the file for an X that is silent', async () => {
    const { sandbox, upload } = await open(inAHurry);
    sandbox.setFaults([{ kind: 'stall', routes: ['media-append'] }]);
    expect(await upload('film-of-4-pieces.mp4')).toMatchObject({
      error: {
        message: expect.stringContaining('did not answer in time') as string,
        details: { clock: 'deadline' },
      },
    });
  }, 30_000);
});
