import { describe, expect, it } from 'vitest';
import { isRateLimited } from './is-rate-limited.js';
import type { ResponseLike } from './response.js';

const now = 1_700_000_000_000;
const docs = 'https://docs.github.com';
const secondary = {
  documentation_url: `${docs}/en/free-pro-team@latest/rest/overview/resources-in-the-rest-api#secondary-rate-limits`,
  message:
    'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
};
const forbidden = {
  documentation_url: `${docs}/rest/issues/issues#create-an-issue`,
  message: 'Resource not accessible by integration',
};
const graphql = (type: string): object => ({ errors: [{ type: 'OTHER' }, { type, message: 'x' }] });

describe('isRateLimited', () => {
  it.each<[string, ResponseLike]>([
    ['any 429', { status: 429 }],
    ['403 with nothing remaining', { status: 403, headers: { 'X-RateLimit-Remaining': '0' } }],
    ['403 with Retry-After', { status: 403, headers: { 'retry-after': '60' }, body: forbidden }],
    [
      '403 with a Retry-After date',
      { status: 403, headers: { 'retry-after': new Date(now + 60_000).toUTCString() } },
    ],
    ['403 with the secondary text and no header', { status: 403, body: secondary }],
    ['the same as text', { status: 403, body: JSON.stringify(secondary) }],
    [
      'only its documentation',
      { status: 403, body: { documentation_url: secondary.documentation_url } },
    ],
    [
      'a newer documentation',
      {
        status: 403,
        body: {
          documentation_url: `${docs}/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits`,
        },
      },
    ],
    [
      'an older documentation',
      {
        status: 403,
        body: { documentation_url: 'https://developer.github.com/v3/#rate-limiting' },
      },
    ],
    ['only its message', { status: 403, body: { message: secondary.message } }],
    [
      'the old abuse message',
      { status: 403, body: '{"message":"You have triggered an abuse detection mechanism."}' },
    ],
    [
      'the primary message',
      { status: 403, body: { message: 'API rate limit exceeded for user ID 1.' } },
    ],
    ['GraphQL RATE_LIMITED', { status: 200, body: graphql('RATE_LIMITED') }],
    ['GraphQL RATE_LIMIT', { status: 200, body: graphql('RATE_LIMIT') }],
    ['GraphQL as text', { status: 200, body: JSON.stringify(graphql('RATE_LIMITED')) }],
    ['GraphQL with 403', { status: 403, body: graphql('RATE_LIMITED') }],
    ['GraphQL without a status', { body: graphql('RATE_LIMITED') }],
    ['a secondary limit of GraphQL with 200', { status: 200, body: secondary }],
  ])('%s is', (_, response) => {
    expect(isRateLimited(response, now)).toBe(true);
  });

  it.each<[string, ResponseLike]>([
    ['nothing', {}],
    [
      '200',
      {
        status: 200,
        headers: { 'x-ratelimit-remaining': '0' },
        body: { message: secondary.message },
      },
    ],
    [
      '403 that forbids',
      { status: 403, headers: { 'x-ratelimit-remaining': '4999' }, body: forbidden },
    ],
    ['403 without anything', { status: 403 }],
    [
      '403 of X with nothing remaining',
      { status: 403, headers: { 'x-rate-limit-remaining': '0' } },
    ],
    [
      '403 with an implausible Retry-After',
      { status: 403, headers: { 'retry-after': '99999999' } },
    ],
    ['403 with a malformed Retry-After', { status: 403, headers: { 'retry-after': 'soon' } }],
    [
      "403 of GitHub's /rate_limit",
      {
        status: 403,
        body: {
          documentation_url: `${docs}/rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user`,
        },
      },
    ],
    ['a page of text', { status: 403, body: { message: 'x '.repeat(300) + secondary.message } }],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '60' } }],
    ['401 with the text', { status: 401, body: { message: secondary.message } }],
    ['another GraphQL error', { status: 200, body: graphql('NOT_FOUND') }],
    ['content that mentions it', { status: 200, body: '"RATE_LIMITED"' }],
    ['errors that are no list', { status: 200, body: { errors: { type: 'RATE_LIMITED' } } }],
  ])('%s is not', (_, response) => {
    expect(isRateLimited(response, now)).toBe(false);
  });

  it('uses the current time by default', () => {
    const headers = { 'retry-after': new Date(Date.now() + 60_000).toUTCString() };
    expect(isRateLimited({ status: 403, headers })).toBe(true);
  });

  it("reads fetch's Response", () => {
    expect(isRateLimited(new Response(null, { status: 429 }), now)).toBe(true);
    const headers = { 'x-ratelimit-remaining': '0' };
    expect(isRateLimited(new Response(null, { status: 403, headers }), now)).toBe(true);
  });
});
