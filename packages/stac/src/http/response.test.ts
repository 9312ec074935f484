import { gzipSync } from 'node:zlib';
import { createRedactor } from '@toolkeel/pack-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorReason, isPageTooLarge, readBody, ResponseTooLargeError } from './response.js';

describe('errorReason', () => {
  it('contains no part of a credential if redaction shortens the body', () => {
    const secret = 'sk-0123456789abcdef';
    const padded = secret.split('').join('\u200B'.repeat(900));
    const half = secret.slice(0, 12);
    const cutAt = 16_384 - half.length;
    const body = padded.padEnd(cutAt, '\u200B') + secret;
    const secrets = createRedactor();
    secrets.add(secret);
    const reason = errorReason({ 'content-type': 'text/plain' }, body, secrets);
    expect(reason).not.toContain(half);
  });

  it.each([
    ['{"code":"BadRequest","description":"no bbox"}', 'no bbox'],
    ['{"detail":"Not\\nFound"}', 'Not Found'],
    [
      '{"detail":[{"loc":["x"],"msg":"field required"},{"msg":"too long"}]}',
      'field required; too long',
    ],
    ['{"message":"Forbidden"}', 'Forbidden'],
    ['{"errors":[{"message":"first"}]}', 'first'],
    ['{"error":{"message":"inner"}}', 'inner'],
    ['{"errors":["bbox is wrong"," ",{"detail":"limit too"}]}', 'bbox is wrong; limit too'],
    ['{"message":"Bad Request","errors":["bbox is wrong"]}', 'bbox is wrong'],
    ['{"detail":["one","two"]}', 'one; two'],
    ['{"message":"no","errors":[]}', 'no'],
    ['<html><head><title>504 Gateway</title></head></html>', 'an HTML page: 504 Gateway'],
    ['<!DOCTYPE html><p>oops', 'an HTML page'],
    ['plain words', 'plain words'],
    ['', undefined],
    ['{}', undefined],
  ])('%s', (body, reason) => {
    expect(errorReason({}, body)).toBe(reason);
  });

  it('is a single bounded line for any body', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((value) => JSON.stringify({ message: value, detail: value })),
        ),
        (body) => {
          const reason = errorReason({}, body);
          expect(reason === undefined || (reason.length <= 330 && !/\p{Cc}/u.test(reason))).toBe(
            true,
          );
        },
      ),
    );
  });

  it('recognises pages that are too large', () => {
    expect(isPageTooLarge(413, '')).toBe(true);
    expect(isPageTooLarge(502, '{"message":"Internal server error"}')).toBe(true);
    expect(isPageTooLarge(502, '{"message":"Response payload too large"}')).toBe(true);
    expect(isPageTooLarge(502, '{"code":"ResponseTooLarge","description":"x"}')).toBe(true);
    expect(isPageTooLarge(502, '<html>Bad Gateway</html>')).toBe(false);
    expect(isPageTooLarge(502, '{"code":"InternalServerError","description":"x"}')).toBe(false);
    expect(isPageTooLarge(500, '{"message":"Internal server error"}')).toBe(false);
  });
});

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
