import { describe, expect, test } from 'vitest';
import type { XSandbox } from '@toolkeel/sandbox';
import { askX, closeXSandboxesAfterEach, get, posted, send, xSandbox } from './support/x.js';

closeXSandboxesAfterEach();

const BOUNDARY = 'a-boundary';

/** A multipart form with a file. */
function multipart(fields: Readonly<Record<string, string>>, media: Buffer) {
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="media"; filename="blob"\r\ncontent-type: application/octet-stream\r\n\r\n`;
  const bytes = Buffer.concat([
    Buffer.from(parts.join('') + file),
    media,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
  return { type: `multipart/form-data; boundary=${BOUNDARY}`, bytes };
}

const initialize = (x: XSandbox, type: string, bytes: number, category?: string) =>
  send(x, '/2/media/upload/initialize', {
    media_type: type,
    total_bytes: bytes,
    ...(category !== undefined && { media_category: category }),
  });

const append = (x: XSandbox, id: string, segment: number, media: Buffer) =>
  askX(x, `/2/media/upload/${id}/append`, {
    method: 'POST',
    raw: multipart({ segment_index: String(segment) }, media),
  });

const finalize = (x: XSandbox, id: string) =>
  askX(x, `/2/media/upload/${id}/finalize`, { method: 'POST' });

const status = (x: XSandbox, id: string) => get(x, `/2/media/upload?command=STATUS&media_id=${id}`);

/** Uploads a file and returns its id. */
async function uploaded(x: XSandbox, type: string, size = 9): Promise<string> {
  const id = (await initialize(x, type, size)).json.data?.id ?? '';
  await append(x, id, 0, Buffer.alloc(size, 1));
  expect((await finalize(x, id)).status).toBe(200);
  return id;
}

describe('a chunked upload', () => {
  test('of an image is ready when it is finalized', async () => {
    const x = await xSandbox();
    const begun = await initialize(x, 'image/png', 9, 'tweet_image');
    const id = begun.json.data?.id ?? '';
    expect(begun.json).toEqual({
      data: { id, media_key: `3_${id}`, expires_after_secs: 86_400 },
    });
    // Segments may arrive out of order and repeatedly.
    for (const [segment, size] of [
      [1, 4],
      [0, 3],
      [0, 5],
    ] as const)
      expect((await append(x, id, segment, Buffer.alloc(size))).json).toEqual({
        data: { expires_at: expect.any(Number) },
      });
    const done = await finalize(x, id);
    expect(done.json.data).toEqual({
      id,
      media_key: `3_${id}`,
      size: 9,
      expires_after_secs: 86_400,
    });
    expect(x.commits().map(({ kind }) => kind)).toEqual([
      'media.initialized',
      'media.appended',
      'media.appended',
      'media.appended',
      'media.finalized',
    ]);
  });

  test('accepts a GIF as an image', async () => {
    const x = await xSandbox();
    const begun = await initialize(x, 'image/gif', 9, 'tweet_image');
    const id = begun.json.data?.id ?? '';
    expect(begun.json.data).toMatchObject({ media_key: `3_${id}` });
    await append(x, id, 0, Buffer.alloc(9));
    expect((await finalize(x, id)).json.data).not.toHaveProperty('processing_info');
    await posted(x, { text: 'Still', media: { media_ids: [id] } });
  });

  test('accepts base64 in JSON', async () => {
    const x = await xSandbox();
    const id = (await initialize(x, 'image/jpeg', 6)).json.data?.id ?? '';
    const media = Buffer.from('pixels').toString('base64');
    const path = `/2/media/upload/${id}/append`;
    expect((await send(x, path, { media, segment_index: 0 })).status).toBe(200);
    expect((await finalize(x, id)).status).toBe(200);
  });

  test('accepts segments of five megabytes', async () => {
    const x = await xSandbox();
    const size = 5 * 1024 * 1024;
    const id = (await initialize(x, 'video/mp4', size)).json.data?.id ?? '';
    expect((await append(x, id, 0, Buffer.alloc(size))).status).toBe(200);
    expect((await finalize(x, id)).status).toBe(200);
  });

  test('of a video is processed and reports its progress', async () => {
    const x = await xSandbox({ mediaProcessingMs: 10_000, mediaCheckAfterSeconds: 2 });
    const id = (await initialize(x, 'video/mp4', 4, 'tweet_video')).json.data?.id ?? '';
    await append(x, id, 0, Buffer.alloc(4));
    const states = [(await finalize(x, id)).json.data?.processing_info];
    for (let turn = 0; turn < 3; turn += 1) {
      x.clock.advance(4000);
      states.push((await status(x, id)).json.data?.processing_info);
    }
    expect(states).toEqual([
      { state: 'pending', check_after_secs: 2 },
      { state: 'in_progress', check_after_secs: 2, progress_percent: expect.any(Number) },
      { state: 'in_progress', check_after_secs: 2, progress_percent: expect.any(Number) },
      { state: 'succeeded', progress_percent: 100 },
    ]);
    await posted(x, { text: 'Film', media: { media_ids: [id] } });
  });

  test('can fail during processing', async () => {
    const x = await xSandbox({ mediaProcessingMs: 10, faults: [{ kind: 'x-media-fails' }] });
    const id = await uploaded(x, 'image/gif');
    x.clock.advance(10);
    expect((await status(x, id)).json.data?.processing_info).toMatchObject({
      state: 'failed',
      error: { name: 'InvalidMedia' },
    });
    const { json } = await send(x, '/2/tweets', { text: 'Film', media: { media_ids: [id] } });
    expect(json.errors).toEqual([
      { parameters: { 'media.media_ids': [id] }, message: 'Your media IDs are invalid.' },
    ]);
    expect(x.counts().byFault).toEqual({ 'x-media-fails': 1 });
  });

  test.for([
    ['image/png', 6 * 1024 * 1024, undefined, /exceeds the maximum of 5242880 bytes/],
    ['image/gif', 16 * 1024 * 1024, undefined, /exceeds the maximum/],
    ['video/mp4', 513 * 1024 * 1024, undefined, /exceeds the maximum/],
    ['image/gif', 6 * 1024 * 1024, 'tweet_image', /exceeds the maximum of 5242880 bytes/],
    ['image/png', 1, 'tweet_video', /not supported for media category/],
    ['image/png', 1, 'tweet_gif', /not supported for media category/],
    ['image/svg+xml', 1, undefined, /^\$\.media_type/],
    ['image/png', -1, undefined, /^\$\.total_bytes/],
  ] as const)('is rejected for %s of %d bytes', async ([type, bytes, category, why]) => {
    const x = await xSandbox();
    const answer = await initialize(x, type, bytes, category);
    expect(answer.status).toBe(400);
    expect(answer.json.errors?.[0]?.['message']).toMatch(why);
    expect(x.commits()).toEqual([]);
  });

  test('cannot be finalized with a missing segment, nor by another user', async () => {
    const x = await xSandbox();
    const id = (await initialize(x, 'image/png', 9)).json.data?.id ?? '';
    await append(x, id, 1, Buffer.alloc(9));
    expect((await finalize(x, id)).status).toBe(400);
    await append(x, id, 0, Buffer.alloc(9));
    expect((await finalize(x, id)).status).toBe(400);
    expect((await append(x, id, 1000, Buffer.alloc(1))).status).toBe(400);
    expect((await send(x, `/2/media/upload/${id}/append`, { segment_index: 0 })).status).toBe(400);
    const { accessToken: token } = x.issueTokens({ userId: x.landmarks.friendId });
    const path = `/2/media/upload?command=STATUS&media_id=${id}`;
    expect((await get(x, path, token)).status).toBe(404);
  });

  test('expires after a day', async () => {
    const x = await xSandbox({ accessTokenLifetimeSeconds: 1_000_000 });
    const id = await uploaded(x, 'image/png');
    x.clock.advance(86_400_000);
    expect((await status(x, id)).status).toBe(404);
    expect((await send(x, '/2/tweets', { text: 'a', media: { media_ids: [id] } })).status).toBe(
      400,
    );
  });
});

describe('a one-shot upload', () => {
  test('accepts images with a category', async () => {
    const x = await xSandbox();
    const whole = (fields: Readonly<Record<string, string>>) =>
      askX(x, '/2/media/upload', { method: 'POST', raw: multipart(fields, Buffer.alloc(20)) });
    const { json } = await whole({ media_category: 'tweet_image' });
    expect(json.data).toMatchObject({ media_key: `3_${json.data?.id ?? ''}`, size: 20 });
    await posted(x, { text: 'Seen', media: { media_ids: [json.data?.id] } });
    expect((await whole({})).status).toBe(400);
    expect((await whole({ media_category: 'tweet_poem' })).status).toBe(400);
    const empty = { type: `multipart/form-data; boundary=${BOUNDARY}`, bytes: 'nonsense' };
    expect((await askX(x, '/2/media/upload', { method: 'POST', raw: empty })).status).toBe(400);
  });
});

describe('media in a post', () => {
  test('add one link for all, with their alt texts', async () => {
    const x = await xSandbox();
    const ids = [await uploaded(x, 'image/png'), await uploaded(x, 'image/jpeg')];
    const described = await send(x, '/2/media/metadata', {
      id: ids[0],
      metadata: { alt_text: { text: 'A heron' } },
    });
    expect(described.json).toEqual({
      data: { id: ids[0], associated_metadata: { alt_text: { text: 'A heron' } } },
    });
    const { id, text } = await posted(x, { text: 'Herons', media: { media_ids: ids } });
    expect(text).toMatch(/^Herons https:\/\/t\.co\/\w{10}$/);
    const { json } = await get(
      x,
      `/2/tweets/${id}?tweet.fields=entities&expansions=attachments.media_keys&media.fields=alt_text`,
    );
    expect(json.data?.entities?.urls).toMatchObject([
      {
        expanded_url: `https://x.com/sandbox_me/status/${id}/photo/1`,
        display_url: expect.stringMatching(/^pic\.x\.com\/\w{10}$/),
        media_key: `3_${ids[0] ?? ''}`,
      },
      { expanded_url: `https://x.com/sandbox_me/status/${id}/photo/2` },
    ]);
    expect(json.includes?.['media']?.map((media) => media.alt_text)).toEqual([
      'A heron',
      undefined,
    ]);
    expect(x.commits().at(-1)).toMatchObject({ kind: 'post.created', media: ids });
  });

  test('can stand without text', async () => {
    const x = await xSandbox();
    const id = await uploaded(x, 'image/png');
    expect((await posted(x, { media: { media_ids: [id] } })).text).toMatch(
      /^https:\/\/t\.co\/\w+$/,
    );
  });

  test('are up to four images, or one other attachment', async () => {
    const x = await xSandbox({ mediaProcessingMs: 0 });
    const pictures = await Promise.all([1, 2, 3, 4].map(() => uploaded(x, 'image/png')));
    const film = await uploaded(x, 'video/mp4');
    const tries = [
      [pictures, 201],
      [[film], 201],
      [[film, pictures[0]], 400],
      [[film, await uploaded(x, 'video/mp4')], 400],
    ] as const;
    for (const [ids, expected] of tries)
      expect((await send(x, '/2/tweets', { media: { media_ids: ids } })).status).toBe(expected);
  });

  test('have alt texts of up to a thousand characters', async () => {
    const x = await xSandbox();
    const id = await uploaded(x, 'image/png');
    const describing = (text: string) =>
      send(x, '/2/media/metadata', { id, metadata: { alt_text: { text } } });
    expect((await describing('a'.repeat(1000))).status).toBe(200);
    expect((await describing('a'.repeat(1001))).status).toBe(400);
  });
});
