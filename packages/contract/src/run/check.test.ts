import { FaultError } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it, vi } from 'vitest';
import { acceptControls } from '../tool/controls.js';
import { defineTool } from '../tool/define.js';
import { profilesFrom, ToolDefinitionError } from '../tool/check-definition.js';
import { answer, raise, toolError } from '../tool/result.js';
import type { Tool } from '../tool/tool.js';
import type { Middleware, Settled, SettledFailure } from './options.js';
import { runTool, startTool } from './run-tool.js';
import { acting, base, run, throwing } from './run.fixture.js';
import { reading as readDefinition } from '../tool/define.fixture.js';
import type { AccountId } from '../tool/spec.js';

const notThere = () => toolError('not_found', 'It is not there.');
const refusal = { code: 'not_found', message: 'It is not there.', outcome: 'not_executed' };

/** A once tool with a check, its handler spy and its reported causes. */
function checked(check: Tool['check']) {
  const handler = vi.fn(acting.handler);
  const tool: Tool = acceptControls(
    defineTool({ ...acting, account: 'main', handler, check: check as () => undefined }),
  );
  const reports: unknown[] = [];
  const onUnexpected = (cause: unknown): void => void reports.push(cause);
  return { tool, handler, reports, onUnexpected };
}

describe('the check of a tool', () => {
  it.each([
    ['that returns a refusal', notThere],
    ['that returns it later', () => Promise.resolve(notThere())],
    ['that raises it', () => raise(notThere())],
  ])('%s prevents the handler: not_executed', async (_, check) => {
    const { tool, handler } = checked(check);
    expect((await run(tool, { id: 'a' })).error).toMatchObject(refusal);
    expect(handler).not.toHaveBeenCalled();
  });

  it('that returns undefined lets the handler run', async () => {
    for (const check of [() => undefined, () => Promise.resolve(undefined)]) {
      const { tool } = checked(check);
      expect(await run(tool, { id: 'a' })).toMatchObject({ data: { id: 'a', n: 10 } });
    }
  });

  it('can answer the call, with validated data', async () => {
    const { tool, handler } = checked(({ id }) => answer({ id, n: 0 }));
    expect(await run(tool, { id: 'a' })).toMatchObject({ success: true, data: { id: 'a', n: 0 } });
    const other = checked(() => answer({ id: 7 }));
    const { error } = await run(other.tool, { id: 'a' }, other);
    expect(error).toMatchObject({ code: 'serialization_error', outcome: 'not_executed' });
    expect(handler).not.toHaveBeenCalled();
  });

  it('receives the accepted arguments and the account', async () => {
    const check = vi.fn<NonNullable<Tool['check']>>();
    const { tool } = checked(check);
    await run(tool, { id: 'a' }, { correlationId: 'c-1' });
    expect(check).toHaveBeenCalledOnce();
    expect(check.mock.calls[0]).toMatchObject([
      { id: 'a', limit: 10 },
      { account: 'main', correlationId: 'c-1', deadline: Number.POSITIVE_INFINITY },
    ]);
    check.mockClear();
    await run(tool, { id: 1 });
    expect(check).not.toHaveBeenCalled();
  });

  it('is synchronous if it returns no promise', () => {
    const { tool } = checked(notThere);
    expect(startTool(tool, { id: 'a' })).not.toBeInstanceOf(Promise);
  });

  it.each([
    ['throws anything', throwing(new Error('secret'))],
    ['says true', () => true],
    ['says that it does not know', () => toolError('outcome_unknown', '?')],
    ['answers with a code that the tool does not declare', () => toolError('x_forbidden', 'No.')],
  ])('that %s stops the call: not_executed', async (_, check) => {
    const { tool, handler, reports, onUnexpected } = checked(check);
    const { error } = await run(tool, { id: 'a' }, { onUnexpected });
    expect(error).toMatchObject({ code: 'internal_error', outcome: 'not_executed' });
    expect(JSON.stringify(error)).not.toContain('secret');
    expect(reports).toHaveLength(1);
    expect(handler).not.toHaveBeenCalled();
  });

  it('with a fault never has an unknown outcome', async () => {
    const { tool } = checked(throwing(new FaultError({ kind: 'network', sent: 'maybe' })));
    expect((await run(tool, { id: 'a' })).error).toMatchObject({
      code: 'upstream_unavailable',
      outcome: 'not_executed',
    });
  });

  it('that never settles ends with the call, and the handler does not start later', async () => {
    const clock = new VirtualClock();
    for (const middleware of [undefined, (async (_, next) => next()) as Middleware]) {
      let go: (() => void) | undefined;
      const { tool, handler } = checked(() => new Promise<void>((resolve) => (go = resolve)));
      const options = { clock, deadline: clock.now() + 100, middleware };
      expect((await clock.run(run(tool, { id: 'a' }, options))).error).toMatchObject({
        code: 'timeout',
        outcome: 'not_executed',
      });
      go?.();
      await new Promise(setImmediate);
      expect(handler).not.toHaveBeenCalled();
    }
  });

  it('works for reads', async () => {
    const tool = defineTool({ ...base, check: notThere });
    expect((await run(tool, { id: 'a' })).error).toMatchObject({ code: 'not_found' });
  });

  it('must be a function', () => {
    const check = true as never;
    expect(() => defineTool({ ...base, check })).toThrow(ToolDefinitionError);
  });
});

describe('a middleware and the check', () => {
  it('runs at most once', async () => {
    const check = vi.fn(notThere);
    const { tool, handler } = checked(check);
    const said: (Settled | undefined)[] = [];
    const middleware: Middleware = async (call, next) => {
      said.push(await call.check(), await call.check());
      return said[0] ?? next();
    };
    expect((await run(tool, { id: 'a' }, { middleware })).error).toMatchObject(refusal);
    expect(said[1]).toBe(said[0]);
    expect(check).toHaveBeenCalledOnce();
    expect(handler).not.toHaveBeenCalled();
  });

  it('runs although the middleware does not call it', async () => {
    const { tool, handler } = checked(notThere);
    const middleware: Middleware = (_, next) => next();
    expect((await run(tool, { id: 'a' }, { middleware })).error).toMatchObject(refusal);
    expect(handler).not.toHaveBeenCalled();
  });

  it('may continue after a failed check, to resume an operation', async () => {
    const { tool, handler } = checked(notThere);
    const middleware: Middleware = async (call, next) => {
      await call.check();
      return next();
    };
    expect(await run(tool, { id: 'a' }, { middleware })).toMatchObject({ success: true });
    expect(handler).toHaveBeenCalledOnce();
  });
});

async function resolvedBy(accountId?: () => AccountId | Promise<AccountId>) {
  const resolved: (AccountId | SettledFailure)[] = [];
  const middleware: Middleware = async (call, next) => {
    resolved.push(await call.accountId(), await call.accountId());
    return next();
  };
  const tool = defineTool({
    ...readDefinition,
    name: 'post_item',
    effect: 'once',
    profiles: profilesFrom('api'),
    errors: ['upstream_unavailable'],
    account: 'main',
    ...(accountId && { accountId }),
  });
  await runTool(tool, { id: 'a' }, { middleware });
  return resolved;
}

describe('the account of a call', () => {
  it('is the configured one by default', async () => {
    expect(await resolvedBy()).toEqual([{ id: 'main' }, { id: 'main' }]);
  });

  it('is resolved once per call', async () => {
    let asked = 0;
    const resolve = async () => ({ id: `x:${(asked += 1)}`, formerly: ['main'] });
    const expected = { id: 'x:1', formerly: ['main'] };
    expect(await resolvedBy(resolve)).toEqual([expected, expected]);
  });

  it.each([
    [
      'a fault',
      () => {
        throw Object.assign(new Error('x'), { fault: { kind: 'network', sent: 'maybe' } });
      },
      'upstream_unavailable',
    ],
    [
      'a bug',
      () => {
        throw new TypeError('a bug');
      },
      'internal_error',
    ],
    ['an empty id', () => ({ id: '' }), 'internal_error'],
  ])('that cannot be resolved because of %s is not_executed', async (_, accountId, code) => {
    const [failure] = await resolvedBy(accountId);
    expect(failure).toMatchObject({ ok: false, error: { code, outcome: 'not_executed' } });
  });
});
