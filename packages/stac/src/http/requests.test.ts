import { expect, it } from 'vitest';
import { isPageTooLarge } from './requests.js';

it('recognises pages that are too large', () => {
  expect(isPageTooLarge(413, undefined)).toBe(true);
  expect(isPageTooLarge(502, { message: 'Internal server error' })).toBe(true);
  expect(isPageTooLarge(502, { message: 'Response payload too large' })).toBe(true);
  expect(isPageTooLarge(502, { code: 'ResponseTooLarge', description: 'x' })).toBe(true);
  expect(isPageTooLarge(502, undefined)).toBe(false);
  expect(isPageTooLarge(502, { code: 'InternalServerError', description: 'x' })).toBe(false);
  expect(isPageTooLarge(500, { message: 'Internal server error' })).toBe(false);
});
