import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSchema } from './arguments.js';
import { decideEffect } from './effects.js';
import { errorReader } from './faults.js';
import { frameOf, parseLine, type ResponseFrame } from './frame.js';

describe('effects', () => {
  const decide = (
    annotations: object,
    config: Partial<Parameters<typeof decideEffect>[1]> = {},
  ) => {
    const { effect, of } = decideEffect(
      { name: 'issue_write', annotations: { ...annotations } },
      { tools: {}, trust: 'readOnly', ...config },
    );
    return { effect, of };
  };

  it.each([
    [{ readOnlyHint: true }, 'readOnly', 'read'],
    [{ readOnlyHint: true, idempotentHint: false }, 'readOnly', 'read'],
    [{ readOnlyHint: 'true' }, 'readOnly', 'once'],
    [{}, 'readOnly', 'once'],
    [{ idempotentHint: true }, 'readOnly', 'once'],
    [{ idempotentHint: true }, 'all', 'idempotent'],
    [{ readOnlyHint: true }, 'none', 'once'],
    [{ destructiveHint: false }, 'all', 'once'],
  ] as const)('of %j with trust %s is %s', (annotations, trust, effect) => {
    expect(decide(annotations, { trust }).effect).toBe(effect);
  });

  it('follow the configuration: an exact name before a pattern, and by argument', () => {
    const tools = {
      'issue_*': { effect: 'idempotent' },
      issue_write: {
        effect: 'once',
        when: [{ arguments: { method: ['get', 'list'] }, effect: 'read' }],
      },
    } as const;
    const { effect, of } = decide({ readOnlyHint: true }, { tools: tools as never });
    expect(effect).toBe('once');
    expect(of({ method: 'get' })).toBe('read');
    expect(of({ method: 'create' })).toBe('once');
    expect(of({})).toBe('once');
  });

  it('follow what any item of an array has', () => {
    const writes = { arguments: { 'pipeline[*].$out': { exists: true } }, effect: 'once' };
    const plain = { arguments: { 'options.dryRun': { exists: false } }, effect: 'idempotent' };
    const { of } = decide({ readOnlyHint: true }, {
      tools: { issue_write: { when: [writes, plain] } },
    } as never);
    expect(of({ pipeline: [{ $match: {} }, { $out: 'a' }] })).toBe('once');
    expect(of({ pipeline: [{ $match: { $out: 'a' } }], options: { dryRun: true } })).toBe('read');
    expect(of({ pipeline: { $out: 'a' }, options: { dryRun: false } })).toBe('read');
    expect(of({ pipeline: [null, [{ $out: 'a' }]], options: { dryRun: null } })).toBe('idempotent');
    const { of: anyItem } = decide({}, {
      tools: { issue_write: { when: [{ arguments: { 'ids[*]': [1, 2] }, effect: 'read' }] } },
    } as never);
    expect([anyItem({ ids: [3, 2] }), anyItem({ ids: [3] }), anyItem({ ids: 2 })]).toEqual([
      'read',
      'once',
      'once',
    ]);
  });

  it('match patterns literally except for asterisks', () => {
    const matches = (pattern: string, name: string): boolean =>
      decideEffect({ name }, { tools: { [pattern]: { effect: 'read' } }, trust: 'none' }).effect ===
      'read';
    expect(matches('list_*', 'list_issues')).toBe(true);
    expect(matches('*_list_*', 'a_list_b')).toBe(true);
    expect(matches('a*a', 'a')).toBe(false);
    expect(matches('list.', 'lists')).toBe(false);
    expect(matches('*', 'anything')).toBe(true);
  });
});

describe('faults in answers', () => {
  const transientFault = (reply: ResponseFrame) => errorReader().transient(reply, 'get');
  const failure = (text: string, more: object = {}) =>
    frameOf({
      jsonrpc: '2.0',
      id: 1,
      result: { isError: true, content: [{ type: 'text', text }], ...more },
    }) as ResponseFrame;

  it.each([
    ['rate limit exceeded. Retry after 12m3s.', 'rate_limited', 723_000],
    ['GitHub API: rate limit exceeded, retry in 30 seconds', 'rate_limited', 30_000],
    ['Too Many Requests', 'rate_limited', undefined],
    ['GET https://api.example.com/x: 502 Bad Gateway', 'server', undefined],
    ['request failed with status code 503', 'server', undefined],
    ['read ECONNRESET', 'server', undefined],
    ['{"error":{"code":"rate_limited","retry_after_ms":500}}', 'rate_limited', 500],
    ['{"status":503,"message":"later"}', 'server', undefined],
  ])('are recognised in %j', (text, kind, retryAfterMs) => {
    expect(transientFault(failure(text))).toMatchObject({ kind, sent: 'answered' });
    expect(transientFault(failure(text))?.retryAfterMs).toBe(retryAfterMs);
  });

  it.each([
    'no such file or directory',
    'ENOENT: no such file',
    'The document mentions the number 503.',
    '{"error":{"code":"not_found","message":"rate limit exceeded"}}',
    '{"error":{"code":"timeout","retryable":false}}',
    `rate limit exceeded ${'x'.repeat(600)}`,
  ])('are final in %j', (text) => {
    expect(transientFault(failure(text))).toBeUndefined();
  });

  it('are read from structured content, _meta and JSON-RPC errors first', () => {
    const hint = { 'io.modelcontextprotocol/toolFailure': { code: 'overloaded', retryable: true } };
    expect(transientFault(failure('x', { _meta: hint }))).toMatchObject({ kind: 'server' });
    const limited = { code: 429, message: 'slow down', data: { retryAfterSeconds: 2 } };
    const error = frameOf({ jsonrpc: '2.0', id: 1, error: limited }) as ResponseFrame;
    expect(transientFault(error)).toMatchObject({ kind: 'rate_limited', retryAfterMs: 2000 });
    const invalid = { code: -32_602, message: 'Invalid params' };
    expect(
      transientFault(frameOf({ jsonrpc: '2.0', id: 1, error: invalid }) as ResponseFrame),
    ).toBe(undefined);
  });

  it('never come from a success, and no answer makes the reader throw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, isError) => {
        const result = { ...(value as object), isError } as Readonly<Record<string, unknown>>;
        const fault = transientFault(frameOf({ jsonrpc: '2.0', id: 1, result }) as ResponseFrame);
        if (!isError) expect(fault).toBeUndefined();
      }),
    );
  });
});

describe('lines of an upstream', () => {
  it('are frames only if they are JSON-RPC', () => {
    expect(parseLine('{"jsonrpc":"2.0","id":1,"result":{}}')).toHaveLength(1);
    expect(
      parseLine('[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]'),
    ).toHaveLength(2);
    for (const line of [
      'listening',
      '{}',
      '[]',
      '1',
      'null',
      '{"jsonrpc":"2.0","id":{},"result":{}}',
    ]) {
      expect(parseLine(line)).toBeUndefined();
    }
    expect(parseLine('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}')).toBe(
      undefined,
    );
  });

  it('never make the reader throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        parseLine(line);
      }),
    );
  });
});

describe('arguments', () => {
  const check = (schema: object, args: unknown) =>
    compileSchema({ ...schema }, (cause) => {
      throw cause;
    })(args);

  it('are checked with the semantics of JSON Schema', () => {
    const schema = {
      type: 'object',
      properties: {
        method: { enum: ['get', 'list'] },
        at: { type: 'string', format: 'date-time' },
      },
      required: ['method'],
    };
    expect(check(schema, { method: 'get', unknown: 1 })).toEqual([]);
    expect(check(schema, {})).toEqual([{ field: 'method', message: 'is required' }]);
    expect(check(schema, { method: 'put' })).toMatchObject([{ field: 'method' }]);
    expect(check(schema, { method: 'get', at: 'yesterday' })).toMatchObject([{ field: 'at' }]);
    expect(check({ ...schema, additionalProperties: false }, { method: 'get', more: 1 })).toEqual([
      { field: 'more', message: 'is not an argument' },
    ]);
  });

  it('are left to the server if its schema is invalid', () => {
    const causes: unknown[] = [];
    const schema = { type: 'object', properties: { a: { $ref: 'https://example.com/x.json' } } };
    expect(compileSchema(schema, (cause) => void causes.push(cause))({ a: 1 })).toEqual([]);
    expect(causes).toHaveLength(1);
  });
});
