import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPartialProblems, readProblem, refusalOf } from './problem.js';

const refusal = (status: number, body: unknown) => refusalOf(status, readProblem(body));
const blank = (status: number, title: string, detail?: string) => ({
  type: 'about:blank',
  title,
  status,
  ...(detail !== undefined && { detail }),
});
const typed = (name: string, more: object = {}) => ({
  type: `https://api.x.com/2/problems/${name}`,
  title: 'T',
  ...more,
});

describe('classifying a failure', () => {
  it.each([
    ['invalid request', 400, typed('invalid-request'), 'invalid_request'],
    ['no login', 401, blank(401, 'Unauthorized', 'Unauthorized'), 'unauthorized'],
    [
      'no credits, by type',
      402,
      typed('credits', { title: 'CreditsDepleted' }),
      'credits_depleted',
    ],
    ['no credits, by status', 402, {}, 'credits_depleted'],
    ['a spending cap', 403, blank(403, 'SpendCapReached'), 'spend_cap_reached'],
    [
      'a duplicate',
      403,
      blank(403, 'Forbidden', 'You are not allowed to create a Tweet with duplicate content.'),
      'duplicate_content',
    ],
    [
      'a duplicate, by number',
      403,
      { errors: [{ code: 187, message: 'no' }] },
      'duplicate_content',
    ],
    [
      'a reply that X does not allow',
      403,
      blank(
        403,
        'Forbidden',
        'Reply to this conversation is not allowed because you have not been mentioned or otherwise engaged by the author of the post you are replying to.',
      ),
      'reply_not_allowed',
    ],
    [
      'something that is not permitted',
      403,
      blank(403, 'Forbidden', 'You are not permitted to perform this action.'),
      'forbidden',
    ],
    [
      'an app that is not enrolled',
      403,
      typed('client-forbidden', { reason: 'client-not-enrolled' }),
      'not_enrolled',
    ],
    ['the wrong kind of login', 403, typed('unsupported-authentication'), 'wrong_auth_kind'],
    ['OAuth 1 without the right', 403, typed('oauth1-permissions'), 'wrong_auth_kind'],
    ['a suspended account', 403, { errors: [{ code: 64, message: 'x' }] }, 'account_restricted'],
    ['a locked account', 403, { errors: [{ code: 326, message: 'x' }] }, 'account_restricted'],
    [
      'a suspended account, in words',
      403,
      blank(403, 'Forbidden', 'Your account is suspended and is not permitted to do this.'),
      'account_restricted',
    ],
    ['nothing there', 404, blank(404, 'Not Found'), 'not_found'],
    ['nothing there, by type', 200, typed('resource-not-found'), 'not_found'],
    ['a window', 429, blank(429, 'Too Many Requests'), 'rate_limited'],
    ['a window, by number', 429, { errors: [{ code: 88, message: 'x' }] }, 'rate_limited'],
    ['a usage cap', 429, typed('usage-capped', { title: 'UsageCapExceeded' }), 'usage_cap'],
    ['a conflict', 409, typed('conflict'), 'conflict'],
    ['a failure', 503, blank(503, 'Service Unavailable'), 'server_error'],
    ['a failure that says it is something else', 500, typed('resource-not-found'), 'server_error'],
    ['liked already', 403, { errors: [{ code: 139, message: 'x' }] }, 'already_done'],
    ['retweeted already', 403, { errors: [{ code: 327, message: 'x' }] }, 'already_done'],
    ['an empty body', 404, undefined, 'not_found'],
    ['an unknown status', 418, {}, 'invalid_request'],
  ])('%s', (_, status, body, expected) => {
    expect(refusal(status, body)).toBe(expected);
  });

  it('uses the last segment of the type, for any host', () => {
    for (const host of [
      'https://api.x.com',
      'https://api.twitter.com',
      'https://elsewhere.example',
    ]) {
      const type = `${host}/2/problems/resource-not-found`;
      expect(refusal(400, { type })).toBe('not_found');
    }
  });

  it('ignores the message if there is a type', () => {
    for (const detail of [
      'You are not allowed to create a Tweet with duplicate content.',
      'Your account is suspended.',
    ]) {
      expect(refusal(403, { title: 'Forbidden', detail })).not.toBe('forbidden');
      expect(refusal(403, typed('client-forbidden', { detail }))).toBe('not_enrolled');
      expect(refusal(403, typed('something-new', { detail }))).toBe('forbidden');
    }
  });

  it('uses the type of an entry if the body has none', () => {
    const detail = 'You are not allowed to create a Tweet with duplicate content.';
    const entry = typed('unsupported-authentication', { detail });
    for (const errors of [[entry], [entry, { message: detail }], [{ message: detail }, entry]]) {
      expect(refusal(403, { ...blank(403, 'Forbidden', detail), errors })).toBe('wrong_auth_kind');
      expect(refusal(403, { errors })).toBe('wrong_auth_kind');
    }
  });

  it('ignores text that X only quotes', () => {
    const texts = [
      'duplicate content',
      'Reply to this conversation is not allowed',
      'you have not been mentioned or otherwise engaged',
      'My account was suspended',
      'You are not allowed to create a Tweet with duplicate content.',
      'Your account is suspended and is not permitted to do this.',
    ];
    for (const text of texts) {
      const quoting = `The text [${text}] is not permitted.`;
      expect(refusal(403, blank(403, 'Forbidden', quoting))).toBe('forbidden');
      expect(refusal(403, { errors: [{ message: quoting }] })).toBe('forbidden');
      expect(refusal(403, { ...blank(403, text), errors: [{ value: text }] })).toBe('forbidden');
    }
    const other = 'The account of its author is suspended.';
    expect(refusal(403, blank(403, 'Forbidden', other))).toBe('forbidden');
  });

  it('reads the message from any field', () => {
    const sentence = 'You are not allowed to create a Tweet with duplicate content.';
    expect(refusal(403, { errors: [{ message: sentence }] })).toBe('duplicate_content');
    expect(refusal(403, { errors: [{ detail: sentence }] })).toBe('duplicate_content');
  });

  it('ignores inherited properties', () => {
    for (const word of ['constructor', '__proto__', 'toString']) {
      expect(refusal(403, { type: `x/${word}`, title: word })).toBe('forbidden');
    }
  });
});

describe('readProblem', () => {
  it('merges detail and messages without repetition', () => {
    const body = {
      type: 'https://api.x.com/2/problems/invalid-request',
      detail: 'One or more parameters to your request was invalid.',
      errors: [
        {
          message: 'The `max_results` query parameter value [3] is not between 10 and 100',
          parameters: {},
        },
      ],
    };
    expect(readProblem(body).summary).toBe(
      'One or more parameters to your request was invalid. The `max_results` query parameter value [3] is not between 10 and 100',
    );
  });

  it.each([
    ['https://developer.x.com/en/portal', 'https://developer.x.com/en/portal'],
    ['https://developer.twitter.com/a?b=c#d', 'https://developer.twitter.com/a?b=c#d'],
    ['https://x.com', 'https://x.com/'],
    ['http://developer.x.com/en/portal', undefined],
    ['https://x.com.elsewhere.example/', undefined],
    ['https://notx.com/', undefined],
    ['https://me:secret@x.com/', undefined],
    ['https://x.com:8443/', undefined],
    ['https://x.com/\u202eevil', 'https://x.com/%E2%80%AEevil'],
    [`https://x.com/${'a'.repeat(400)}`, undefined],
    ['javascript:alert(1)', undefined],
    ['/en/portal', undefined],
    [7, undefined],
  ])('accepts %j as registration URL only if it is a URL of X', (given, taken) => {
    const body = typed('client-forbidden', { registration_url: given });
    expect(readProblem(body).registrationUrl).toBe(taken);
    expect(readProblem({ errors: [body] }).registrationUrl).toBe(taken);
  });

  it('reads the errors beside a success', () => {
    const doc = {
      data: [],
      errors: [
        {
          value: '99',
          detail: 'Could not find user with ids: [99].',
          title: 'Not Found Error',
          resource_type: 'user',
          parameter: 'ids',
          resource_id: '99',
          type: 'https://api.twitter.com/2/problems/resource-not-found',
        },
      ],
    };
    expect(readPartialProblems(doc)).toMatchObject([
      { type: 'resource-not-found', resourceType: 'user', resourceId: '99', parameter: 'ids' },
    ]);
  });

  it('accepts any input and returns no control characters', () => {
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(
        fc.constantFrom('type', 'title', 'detail', 'errors', 'code', 'message', 'reason', 'period'),
        fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constant('x'.repeat(5000))),
      ),
    );
    fc.assert(
      fc.property(anything, fc.integer({ min: 100, max: 999 }), (body, status) => {
        const problem = readProblem(body);
        expect(typeof refusalOf(status, problem)).toBe('string');
        const texts = [
          problem.summary,
          problem.type,
          problem.title,
          problem.reason,
          problem.period,
        ];
        for (const text of texts.filter((one) => one !== undefined)) {
          expect(text.length).toBeLessThanOrEqual(300);
          expect(text).not.toMatch(/\p{Cc}/u);
        }
      }),
    );
  });
});
