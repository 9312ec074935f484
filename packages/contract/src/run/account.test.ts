import { describe, expect, it } from 'vitest';
import { defineTool } from '../tool/define.js';
import { reading } from '../tool/define.fixture.js';
import { profilesFrom } from '../tool/check-traits.js';
import type { AccountId } from '../tool/spec.js';
import type { Middleware, SettledFailure } from './options.js';
import { runTool } from './run-tool.js';

async function resolvedBy(accountId?: () => AccountId | Promise<AccountId>) {
  const resolved: (AccountId | SettledFailure)[] = [];
  const around: Middleware = async (call, next) => {
    resolved.push(await call.accountId(), await call.accountId());
    return next();
  };
  const tool = defineTool({
    ...reading,
    name: 'post_item',
    effect: 'once',
    profiles: profilesFrom('api'),
    errors: ['upstream_unavailable'],
    account: 'main',
    ...(accountId && { accountId }),
  });
  await runTool(tool, { id: 'a' }, { around });
  return resolved;
}

describe('the account of a call', () => {
  it('is the configured one where the tool resolves no other', async () => {
    expect(await resolvedBy()).toEqual([{ id: 'main' }, { id: 'main' }]);
  });

  it('is resolved once for a call', async () => {
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
  ])('that cannot be resolved because of %s was not executed', async (_, accountId, code) => {
    const [failure] = await resolvedBy(accountId);
    expect(failure).toMatchObject({ ok: false, error: { code, outcome: 'not_executed' } });
  });
});
