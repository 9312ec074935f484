import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readBody, ResponseTooLargeError } from './body.js';

describe('readBody', () => {
  const stream = async function* (...chunks: readonly Buffer[]) {
    yield* chunks;
  };

  it('rejects bodies beyond the budget', async () => {
    const read = (size: number) => readBody(stream(Buffer.alloc(60), Buffer.alloc(size)), {}, 100);
    expect(await read(40)).toHaveLength(100);
    await expect(read(41)).rejects.toBeInstanceOf(ResponseTooLargeError);
    await expect(readBody(stream(), { 'content-length': '101' }, 100)).rejects.toBeInstanceOf(
      ResponseTooLargeError,
    );
  });

  it('rejects decoded bodies beyond the budget', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const bomb = gzipSync(Buffer.alloc(100_000));
    expect(await readBody(stream(gzipSync('hello')), headers, 100)).toEqual(Buffer.from('hello'));
    await expect(readBody(stream(bomb), headers, 1000)).rejects.toBeInstanceOf(
      ResponseTooLargeError,
    );
    await expect(readBody(stream(Buffer.from('no gzip')), headers, 100)).rejects.toMatchObject({
      code: 'Z_DATA_ERROR',
    });
  });
});
